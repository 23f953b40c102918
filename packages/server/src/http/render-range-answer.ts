import { setImmediate } from 'node:timers/promises'
import type { AnswerSeries } from '../metrics/range-answer.ts'
import { giveBackAnswerMemory, takeAnswerMemory } from './answer-memory.ts'
import { HEAD_BYTES, HEAD_WORDS, pointHeads, type PointHeads } from './point-heads.ts'
import { NUMBER_ROOM, writeNumber } from './write-number.ts'

/** Bytes written before other requests get their turn; a few milliseconds. */
const BYTES_PER_TURN = 400_000
/** The same for numbers that are copied, and for names that are written. */
const VALUES_PER_TURN = 1_000_000
const METRICS_PER_TURN = 2000
/** More than this is not made room for on a guess. */
const RESERVED_MAX = 64 * 2 ** 20
const BRACE = 0x7d
/** No text inside a string holds this: there each quote has a backslash before it. */
const EMPTY_SAMPLES = '"samples":[]'

/** An answer that is ready to be written, in a form that another thread can be given. */
export interface RangeRendering {
  /** JSON of all but the series; those of `results` go in the places of its empty `samples`, one after the other. */
  readonly frame: string
  readonly timestampsSeconds: Float64Array
  readonly results: readonly SeriesRendering[]
}

interface SeriesRendering {
  /** JSON of what each series is called. */
  readonly metrics: readonly string[]
  /** Their values; NaN is no point. */
  readonly rows: readonly Float64Array[]
}

/** Puts together what is written of an answer whose series are left out of `frame`. */
export async function prepareRangeRendering(
  frame: object,
  results: readonly (readonly AnswerSeries[])[],
  timestampsSeconds: Float64Array,
): Promise<RangeRendering> {
  const prepared: SeriesRendering[] = []
  for (const all of results) {
    const metrics: string[] = []
    for (const { name, labels, displayName } of all) {
      metrics.push(JSON.stringify({ name, labels, displayName }))
      if (metrics.length % METRICS_PER_TURN === 0) await setImmediate()
    }
    prepared.push({ metrics, rows: all.map(({ values }) => values) })
  }
  return { frame: JSON.stringify(frame), timestampsSeconds, results: prepared }
}

/** Copies the rows, which are kept, into memory that another thread can be given. */
export async function copyRows(rendering: RangeRendering): Promise<RangeRendering> {
  const results: SeriesRendering[] = []
  const points = rendering.timestampsSeconds.length
  for (const { metrics, rows } of rendering.results) {
    const { buffer } = takeAnswerMemory(rows.length * points * Float64Array.BYTES_PER_ELEMENT)
    const together = new Float64Array(buffer, 0, rows.length * points)
    let turnedAt = 0
    for (const [place, row] of rows.entries()) {
      together.set(row, place * points)
      if ((place - turnedAt) * points < VALUES_PER_TURN) continue
      turnedAt = place
      await setImmediate()
    }
    results.push({
      metrics,
      rows: rows.map((_, place) => together.subarray(place * points, (place + 1) * points)),
    })
  }
  return { ...rendering, results }
}

/** The memory that copied rows are in. */
export function memoryOfRows({ results }: RangeRendering): ArrayBuffer[] {
  return [...new Set(results.flatMap(({ rows }) => rows.map(({ buffer }) => buffer)))] as ArrayBuffer[]
}

/**
 * The bytes that `JSON.stringify` would make of the same, written without making an object of each point, and in turns. They are in memory that
 * whoever has sent them gives back.
 */
export async function renderRangeAnswer({
  frame,
  timestampsSeconds,
  results,
}: RangeRendering): Promise<Uint8Array<ArrayBuffer>> {
  const writer = createWriter()
  const heads = pointHeads(timestampsSeconds)
  const parts = frame.split(EMPTY_SAMPLES)
  let turnedAt = 0
  for (const [index, part] of parts.entries()) {
    writer.text(part)
    if (index === parts.length - 1) break
    writer.text('"samples":[')
    const startedAt = writer.length
    const { metrics, rows } = results[index] ?? NO_SERIES
    for (const [place, metric] of metrics.entries()) {
      writer.text(`${place === 0 ? '' : ','}{"metric":${metric},"values":[`)
      writer.points(heads, rows[place] ?? NO_VALUES)
      writer.text(']}')
      // The others are about as long, so that what is written needs to be moved once at most.
      if (place === 0) {
        const others = Math.ceil((writer.length - startedAt) * (metrics.length - 1) * 1.05)
        writer.reserve(Math.min(others, RESERVED_MAX))
      }
      if (writer.length - turnedAt < BYTES_PER_TURN) continue
      turnedAt = writer.length
      await setImmediate()
    }
    writer.text(']')
  }
  return writer.bytes()
}

const NO_SERIES: SeriesRendering = { metrics: [], rows: [] }
const NO_VALUES = new Float64Array()

interface Writer {
  readonly length: number
  /** Makes room for so many bytes. */
  reserve(more: number): void
  text(text: string): void
  /** Each point that is one, behind its timestamp. */
  points(heads: PointHeads, values: Float64Array): void
  bytes(): Uint8Array<ArrayBuffer>
}

function createWriter(): Writer {
  let bytes = takeAnswerMemory()
  let view = new DataView(bytes.buffer)
  let length = 0

  function reserve(more: number): void {
    if (length + more <= bytes.length) return
    const larger = takeAnswerMemory(Math.max(2 * bytes.length, length + more))
    bytes.copy(larger, 0, 0, length)
    giveBackAnswerMemory(bytes)
    bytes = larger
    view = new DataView(bytes.buffer)
  }

  return {
    get length() {
      return length
    },
    reserve,
    text(text) {
      reserve(3 * text.length)
      length += bytes.write(text, length)
    },
    points({ words, lengths }, values) {
      reserve(values.length * (HEAD_BYTES + NUMBER_ROOM))
      const start = length
      const [target, out] = [bytes, view]
      let at = start
      for (let i = 0; i < values.length; i += 1) {
        const value = values[i] ?? Number.NaN
        if (Number.isNaN(value)) continue
        const first = i * HEAD_WORDS
        out.setFloat64(at, words[first] ?? 0, true)
        out.setFloat64(at + 8, words[first + 1] ?? 0, true)
        out.setFloat64(at + 16, words[first + 2] ?? 0, true)
        out.setFloat64(at + 24, words[first + 3] ?? 0, true)
        out.setFloat64(at + 32, words[first + 4] ?? 0, true)
        at = writeNumber(target, out, at + (lengths[i] ?? 0), value)
        target[at++] = BRACE
      }
      // The first has a comma before it that no other one precedes.
      if (at > start) target.copyWithin(start, start + 1, at--)
      length = at
    },
    bytes: () => bytes.subarray(0, length),
  }
}
