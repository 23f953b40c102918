import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { describe, expect, it } from 'vitest'
import { formatRows, formatTable } from '../../src/cli/print.ts'
import { runMillrace, startMillrace } from './run-millrace.ts'

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
    [
      ['project', 'list', '--url', 'localhost:8080'],
      /--url \(MILLRACE_URL\) must be an http or https address/,
    ],
    [['import', 'demo/erc20', import.meta.filename, '--url', 'nonsense'], /--url.*not "nonsense"/],
    [['channel', 'show', 'demo/erc20', ''], /argument 'channel'.*A name is needed/],
    [['channel', 'delete', 'demo/erc20', '..'], /argument 'channel'.*A name is needed/],
    [['deadletter', 'list', 'demo/erc20', ''], /argument 'channel'.*A name is needed/],
    [['deadletter', 'frob'], /value 'frob' is invalid.*owner\/name/],
    [
      ['channel', 'edit', 'demo/erc20', 'hook', '--header', 'a: 1', '--header', 'a: 2'],
      /--header "a" is given twice/,
    ],
    [['channel', 'edit', 'demo/erc20', 'hook', '--header', 'a: 1', '--no-headers'], /exclude each other/],
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

  it('ends without a word when nobody reads what it prints', async () => {
    const server = createServer((_request, response) => response.end('{"projects":[]}')).listen(
      0,
      '127.0.0.1',
    )
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const running = startMillrace(['project', 'list', '--url', `http://127.0.0.1:${port}`])
    running.process.stdout?.destroy()
    const { code, stderr } = await running.finished.finally(() => server.close())
    expect(stderr).toBe('')
    expect(code).toBe(0)
  })

  it('says that a key cannot be one, without repeating it', async () => {
    const { code, stderr } = await runMillrace(['project', 'list', '--key', 'mr_…secret'])
    expect(stderr).toMatch(/apiKey must be a text of ASCII characters/)
    expect(stderr).not.toContain('secret')
    expect(code).toBe(1)
  })

  it('prints a paragraph a row where the terminal is too narrow for the table', () => {
    const rows = [
      { name: 'a', note: 'x'.repeat(70) },
      { name: 'b', note: null },
    ]
    expect(formatRows(['name', 'note'], rows, 66)).toBe(formatTable(['name', 'note'], rows))
    expect(formatRows(['name', 'note'], rows, 65).split('\n')).toEqual([
      '─[ 1 ]─',
      'name  a',
      `note  ${'x'.repeat(70)}`,
      '─[ 2 ]─',
      'name  b',
      'note',
    ])
  })

  it('prints tables whose cells cannot move the cursor of the terminal', () => {
    const rows = [
      { name: 'a\u001B[2\u202Eb', n: 5 },
      { name: null, n: 123 },
    ]
    expect(formatTable(['name', 'n'], rows).split('\n')).toEqual([
      'name      n',
      '──────  ───',
      'a [2 b    5',
      '        123',
    ])
  })
})
