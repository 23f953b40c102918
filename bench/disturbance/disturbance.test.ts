import { describe, expect, it } from 'vitest'
import { formatDisturbance, whileWatched } from './disturbance.ts'
import { parseProcessorTime, stolenShare } from './stolen-time.ts'

const STAT = `cpu  100 5 40 800 10 1 4 40 77 0
cpu0 50 2 20 400 5 0 2 20 0 0
intr 1 2 3
`

describe('what disturbed a measurement', () => {
  it('is the time that the host took of all, those of guests not counted twice', () => {
    const before = parseProcessorTime(STAT)
    const after = parseProcessorTime(STAT.replace('800 10 1 4 40', '890 10 1 4 50'))
    expect(before).toEqual({ total: 1000, stolen: 40 })
    expect(stolenShare(before, after)).toBe(0.1)
  })

  it('is unknown where the system does not tell', () => {
    expect(parseProcessorTime('')).toBeNull()
    expect(parseProcessorTime('cpu  1 2 3 4\n')).toBeNull()
    const time = { total: 1000, stolen: 40 }
    expect(stolenShare(null, time)).toBeNull()
    expect(stolenShare(time, time)).toBeNull()
  })

  it('is told of a measurement beside its result, with timers and synchronisations that were watched', async () => {
    const { result, disturbance } = await whileWatched(async () => {
      await new Promise((resolve) => setTimeout(resolve, 150))
      return 'measured'
    })
    expect(result).toBe('measured')
    expect(disturbance.timerLate.count).toBeGreaterThan(0)
    expect(disturbance.diskSync.count).toBeGreaterThan(0)
    expect(formatDisturbance({ ...disturbance, stolenShare: 0.0123 })).toMatch(
      /^the host took 1\.2 %; an idle timer came -?\d+\.\d ms late \(p99\); the disk synchronised in \d+\.\d ms, p99 \d+\.\d ms$/,
    )
  })

  it('is not waited for by a measurement that fails', async () => {
    await expect(whileWatched(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  })
})
