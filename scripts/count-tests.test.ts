import { expect, it } from 'vitest'
import { countTests } from './count-tests.ts'

it('counts the tests that the runner reports', () => {
  const results = [{ status: 'failed', assertionResults: [{ status: 'passed' }, { status: 'failed' }] }]
  expect(countTests({ numPassedTests: 1, numFailedTests: 1, testResults: results })).toBe(
    '1 passed, 1 failed',
  )
})

it('counts a file that could not be loaded as one failure', () => {
  const results = [
    { status: 'passed', assertionResults: [{ status: 'passed' }] },
    { status: 'failed', assertionResults: [] },
  ]
  expect(countTests({ numPassedTests: 1, numFailedTests: 0, testResults: results })).toBe(
    '1 passed, 1 failed',
  )
})
