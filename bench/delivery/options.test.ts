import { expect, it } from 'vitest'
import { readOptions } from './options.ts'

it('measures everything but the pinned snapshot unless told otherwise', () => {
  expect(readOptions([])).toMatchObject({
    scenarios: ['drain', 'latency', 'hanging', 'outage', 'kill'],
    rates: [500, 3000],
    latencies: [0, 50, 250],
    plot: null,
  })
  expect(readOptions(['--help'])).toBeNull()
})

it.each([
  [['--scenario', 'drain,toString'], '--scenario: no "toString"'],
  [['--contender', 'sidekiq'], '--contender: nobody\'s name contains "sidekiq"'],
  [['--rates', '500,'], '--rates: "" is no whole number from 1 on'],
  [['--seconds', '1.5'], '--seconds: "1.5" is no whole number from 1 on'],
  [['--kills', '0'], '--kills: "0" is no whole number from 1 on'],
  [['--waitng', '5'], "Unknown option '--waitng'"],
])('refuses %j before anything is measured', (argv, message) => {
  expect(() => readOptions(argv)).toThrow(message)
})
