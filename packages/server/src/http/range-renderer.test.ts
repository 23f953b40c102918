import { setImmediate } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { giveBackAnswerMemory } from './answer-memory.ts'
import { createRangeRenderer, type RangeRenderer } from './range-renderer.ts'
import { prepareRangeRendering } from './render-range-answer.ts'

const TIMESTAMPS = Float64Array.from({ length: 500 }, (_, i) => 1_700_000_000 + 60 * i)
const SERIES = Array.from({ length: 40 }, (_, place) => ({
  name: 'price',
  labels: { token: `"${place}"é` },
  displayName: `price ${place}`,
  values: TIMESTAMPS.map((_, i) => ((i + place) % 7 === 0 ? Number.NaN : (i * 37 + place) / (1 + (i % 9)))),
}))
const FRAME = {
  results: [{ matrix: { samples: [], totalSamples: 40 } }, { matrix: { samples: [] } }],
  warnings: ['said of "samples":[]'],
}

const EXPECTED = JSON.stringify({
  results: [
    {
      matrix: {
        samples: SERIES.map(({ values, ...metric }) => ({
          metric,
          values: [...TIMESTAMPS].flatMap((seconds, i) => {
            const value = values[i] ?? Number.NaN
            return Number.isNaN(value) ? [] : [{ timestamp: String(seconds), value }]
          }),
        })),
        totalSamples: 40,
      },
    },
    { matrix: { samples: [] } },
  ],
  warnings: ['said of "samples":[]'],
})

const prepared = () => prepareRangeRendering(FRAME, [SERIES, []], TIMESTAMPS)
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString()

let renderer: RangeRenderer | undefined
afterEach(() => renderer?.close())

describe('an answer that is written out', () => {
  it.each([
    ['where it is asked for', 0],
    ['by a thread', 1],
  ])('is the JSON of its points %s', async (_, threadsMax) => {
    renderer = createRangeRenderer({ threadsMax, pointsMin: 1 })
    expect(text(await renderer.render(await prepared()))).toBe(EXPECTED)
  })

  it('is whole where more are asked for than the threads take', async () => {
    const both = createRangeRenderer({ threadsMax: 2, pointsMin: 1 })
    renderer = both
    const given = await Promise.all(Array.from({ length: 20 }, prepared))
    const all = await Promise.all(given.map((each) => both.render(each)))
    expect(new Set(all.map(text))).toEqual(new Set([EXPECTED]))
  })

  it('is whole while memory goes to threads and comes back', async () => {
    const both = createRangeRenderer({ threadsMax: 2, pointsMin: 1 })
    renderer = both
    for (let round = 0; round < 10; round += 1) {
      const given = await Promise.all(Array.from({ length: 6 }, prepared))
      await Promise.all(
        given.map(async (each) => {
          const bytes = await both.render(each)
          expect(text(bytes)).toBe(EXPECTED)
          giveBackAnswerMemory(bytes)
        }),
      )
    }
    expect(SERIES.map(({ values }) => values.length)).toEqual(SERIES.map(() => TIMESTAMPS.length))
  })

  it('fails when its thread ends, and the next one has a new thread', async () => {
    renderer = createRangeRenderer({ threadsMax: 1, pointsMin: 1 })
    const lost = renderer.render(await prepared())
    await setImmediate()
    await Promise.all([
      expect(lost).rejects.toMatchObject({
        code: 'internal',
        message: 'the thread that wrote the answer ended',
      }),
      renderer.close(),
    ])
    expect(text(await renderer.render(await prepared()))).toBe(EXPECTED)
  })

  it('is written where it is asked for when threads cannot begin', async () => {
    const without = createRangeRenderer(
      { threadsMax: 1, pointsMin: 1 },
      new URL('./no-such-thread.ts', import.meta.url),
    )
    renderer = without
    await expect(without.render(await prepared())).rejects.toMatchObject({ code: 'internal' })
    expect(text(await without.render(await prepared()))).toBe(EXPECTED)
  })
})
