import process from 'node:process'
import { expect, it } from 'vitest'
import { runChecks, type Check } from './run-checks.ts'

const check = (name: string, script: string): Check => ({
  name,
  command: process.execPath,
  arguments: ['-e', script],
})

it('says of each check that it passed', async () => {
  const lines: string[] = []
  const checks = [check('one', ''), check('two', '')]
  expect(await runChecks(checks, 2, (line) => void lines.push(line))).toBeNull()
  expect(lines.map((line) => line.replace(/[\d.]+ s$/, '')).toSorted()).toEqual(['✓ one  ', '✓ two  '])
})

it('stops at the first failure, shows all that it printed, and ends what is under way', async () => {
  const lines: string[] = []
  const checks = [
    check('broken', `console.log('out'); console.error('err'); process.exitCode = 3`),
    check('endless', 'setInterval(() => {}, 1000)'),
    check('never begun', ''),
  ]
  const failure = await runChecks(checks, 2, (line) => void lines.push(line))
  expect(failure?.name).toBe('broken')
  expect(failure?.output.split('\n').toSorted()).toEqual(['', 'err', 'out'])
  expect(lines).toHaveLength(1)
})

it('counts a program that is not there as a failure', async () => {
  const missing: Check = { name: 'missing', command: '/nonexistent/program', arguments: [] }
  expect(await runChecks([missing], 1, () => {})).toMatchObject({ name: 'missing' })
})
