import { tmpdir } from 'node:os'
import { describe, expect, it } from 'vitest'
import { formatTable } from '../../src/cli/print.ts'
import { runMillrace } from './run-millrace.ts'

describe('the command line', () => {
  it.each([
    [['--help'], /project.*\n.*key.*\n.*channel[^]*Examples:/],
    [['start', '--help'], /--shift-to-now[^]*Examples:/],
    [['sql', '--help'], /--all[^]*MILLRACE_API_KEY[^]*Examples?:/],
  ])('explains itself: %s', async (args, pattern) => {
    const { code, stdout } = await runMillrace(args)
    expect(code).toBe(0)
    expect(stdout).toMatch(pattern)
  })

  it.each([
    [['nonsense'], /unknown command 'nonsense'/],
    [['sql', 'demo/erc20'], /missing required argument 'statement'/],
    [['sql', 'demo/erc20', 'select 1', '--size', 'many'], /--size.*whole number/],
    [['key', 'create', 'k'], /--permission/],
    [['query', 'demo/erc20', 'm', '--aggregate', 'MEAN'], /--aggregate must be one of AVG, SUM/],
    [['project', 'create', 'erc20'], /value 'erc20' is invalid.*owner\/name/],
  ])('says what is wrong with %j, with exit code 2', async (args, pattern) => {
    const { code, stderr } = await runMillrace(args)
    expect(stderr).toMatch(pattern)
    expect(code).toBe(2)
  })

  it.each([
    [['--logs', 'missing.ndjson'], /--logs missing\.ndjson cannot be read: there is no such file/],
    [['--logs', tmpdir()], /--logs \S+ cannot be read: it is no file/],
    [['--rpc', 'http://127.0.0.1:1', '--logs', 'x'], /--rpc and --logs exclude each other/],
    [['--contract', `0x${'a'.repeat(40)}`], /--contract and --start-block need --rpc/],
    [['--rpc', 'http://127.0.0.1:1', '--contract', '0x12'], /40 hexadecimal digits, not "0x12"/],
    [['--shift-to-now'], /--shift-to-now needs --logs/],
    [['--port', '99999'], /MILLRACE_PORT must be an integer from 0 to 65535, not "99999"/, 1],
  ])('refuses start %j before anything is started', async (args, pattern, exitCode = 2) => {
    const { code, stderr, stdout } = await runMillrace(['start', ...args])
    expect(stderr).toMatch(pattern)
    expect(stdout).toBe('')
    expect(code).toBe(exitCode)
  })

  it('says when no service is there, and how to name another', async () => {
    const { code, stderr } = await runMillrace(['project', 'list'], { MILLRACE_URL: 'http://127.0.0.1:1' })
    expect(stderr).toMatch(/cannot be reached[^]*--url or MILLRACE_URL/)
    expect(code).toBe(1)
  })

  it('prints tables whose cells cannot move the cursor of the terminal', () => {
    const rows = [
      { name: 'a\u001B[2Jb', n: 5 },
      { name: null, n: 123 },
    ]
    expect(formatTable(['name', 'n'], rows).split('\n')).toEqual([
      'name      n',
      '──────  ───',
      'a [2Jb    5',
      '        123',
    ])
  })
})
