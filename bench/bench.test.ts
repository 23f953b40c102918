import { describe, expect, it } from 'vitest'
import { eventBatches, messageBatches, sampleBatches } from './data-set.ts'
import { summarise } from './latency.ts'
import { readOptions, type BenchOptions } from './options.ts'
import { formatFigures } from './report.ts'

const END_AT = Date.UTC(2026, 0, 31)

function options(...argv: readonly string[]): BenchOptions {
  const read = readOptions(argv)
  if (!read) throw new Error('asked for the usage')
  return read
}

describe('the data set of the bench', () => {
  const small = options(
    '--samples',
    '25',
    '--series',
    '3',
    '--batch',
    '10',
    '--events',
    '3',
    '--messages',
    '2',
  )

  it('is decided by seed and sizes', () => {
    expect([...sampleBatches(small, END_AT)]).toEqual([...sampleBatches(small, END_AT)])
    expect([...sampleBatches({ ...small, seed: 2 }, END_AT)]).not.toEqual([...sampleBatches(small, END_AT)])
  })

  it('has as many records as asked for, in batches with ids of their own', () => {
    const batches = [
      ...sampleBatches(small, END_AT),
      ...eventBatches(small, END_AT),
      ...messageBatches(small, END_AT),
    ]
    expect(batches.map(({ records }) => records)).toEqual([10, 10, 5, 3, 2])
    expect(batches.map(({ body }) => body.trimEnd().split('\n').length)).toEqual([10, 10, 5, 3, 2])
    expect(new Set(batches.map(({ batchId }) => batchId)).size).toBe(5)
  })

  it('covers the days before its end, in the order of time', () => {
    const times = [...sampleBatches(small, END_AT)]
      .flatMap(({ body }) => body.trimEnd().split('\n'))
      .map((line) => (JSON.parse(line) as { timestampMicros: number }).timestampMicros)
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    expect(times[0]).toBe(Date.UTC(2026, 0, 1) * 1000)
    expect(times.at(-1)).toBeLessThan(END_AT * 1000)
  })
})

describe('the figures of the bench', () => {
  it('takes median, 99th percentile and worst by nearest rank', () => {
    const durations = Array.from({ length: 100 }, (_, index) => 100 - index)
    expect(summarise(durations)).toEqual({ count: 100, medianMs: 50, p99Ms: 99, maxMs: 100 })
    expect(summarise([7])).toEqual({ count: 1, medianMs: 7, p99Ms: 7, maxMs: 7 })
  })

  it('lines the table up', () => {
    const lines = formatFigures([
      { name: 'a', perSecond: 1234.5, unit: 'rows' },
      { name: 'longer', latency: summarise([1, 2, 3]) },
    ]).split('\n')
    expect(lines[0]).toBe('               rate  median ms  p99 ms  max ms')
    expect(lines[2]).toBe('longer                     2.0     3.0     3.0')
  })

  it('refuses a size that is no number, and an address without a key', () => {
    expect(() => options('--samples', 'many')).toThrow('--samples must be a whole number, not "many"')
    expect(() => options('--url', 'http://127.0.0.1:1')).toThrow('--url and --key go together')
  })
})
