import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import process from 'node:process'
import { describe, expect, it } from 'vitest'
import { readSoakOptions, soakUsage } from './soak-options.ts'

const SOAK = { script: 'soak', kills: 200, databases: ['sqlite', 'postgres'] }

describe('the options of a soak', () => {
  it('are its defaults unless given, with a seed by chance', () => {
    expect(readSoakOptions([], SOAK)).toEqual({
      kills: 200,
      seed: expect.any(Number),
      databases: ['sqlite', 'postgres'],
    })
    expect(readSoakOptions(['--kills', '3', '--seed', '0', '--database', 'postgres'], SOAK)).toEqual({
      kills: 3,
      seed: 0,
      databases: ['postgres'],
    })
  })

  it.each([
    [['--kills', '0'], '--kills must be a whole number from 1 on, not "0"'],
    [['--kills', 'many'], '--kills must be a whole number from 1 on, not "many"'],
    [['--kills='], '--kills must be a whole number from 1 on, not ""'],
    [['--seed', '1.5'], '--seed must be a whole number, not "1.5"'],
    [['--database', 'toString'], '--database must be one of sqlite, postgres, not "toString"'],
    [['--kills', '--seed'], "Option '--kills' argument is ambiguous."],
    [['--nonsense'], "Unknown option '--nonsense'"],
  ])('refuses %j in one line', (argv, message) => {
    expect(() => readSoakOptions(argv, SOAK)).toThrow(message)
    expect(() => readSoakOptions(argv, SOAK)).not.toThrow('\n')
  })

  it('have no database where there is no choice', () => {
    const soak = { ...SOAK, databases: [] }
    expect(() => readSoakOptions(['--database', 'sqlite'], soak)).toThrow("Unknown option '--database'")
    expect(soakUsage(soak)).not.toContain('--database')
  })
})

describe.each(['../delivery/chaos/soak.ts', '../ingest/soak.ts'])('%s', (file) => {
  const run = (option: string) =>
    spawnSync(process.execPath, [join(import.meta.dirname, file), option], { encoding: 'utf8' })

  it('tells its options when asked', () => {
    const { status, stdout, stderr } = run('--help')
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toContain('--kills N')
  })

  it('ends with 2 and one line when it does not understand', () => {
    const { status, stdout, stderr } = run('--nonsense')
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(/^Unknown option '--nonsense'.*\n$/)
  })
})
