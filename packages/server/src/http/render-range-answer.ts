import { setImmediate } from 'node:timers/promises'
import type { AnswerSeries } from '../metrics/range-answer.ts'
import { NUMBER_BYTES_MAX, writeNumber } from './write-number.ts'

/** Bytes written before other requests get their turn; a few milliseconds. */
const BYTES_PER_TURN = 400_000
const FIRST_CAPACITY = 16_384
const [BRACE, COMMA] = [0x7d, 0x2c]
/** No text inside a string holds this: there each quote has a backslash before it. */
const EMPTY_SAMPLES = '"samples":[]'

/**
 * The bytes of an answer whose series are left out of `frame`, JSON: those of `results` are written in the places of its empty `samples`, one
 * after the other. They are what `JSON.stringify` would make of the same, written without making an object of each point, and in turns.
 */
export async function renderRangeAnswer(
  frame: object,
  results: readonly (readonly AnswerSeries[])[],
  timestampsSeconds: readonly number[],
): Promise<Uint8Array> {
  const writer = createWriter()
  const points = timestampsSeconds.map((seconds) =>
    Buffer.from(`{"timestamp":"${seconds}","value":`, 'latin1'),
  )
  const longest = Math.max(0, ...points.map(({ length }) => length)) + NUMBER_BYTES_MAX + 2
  const parts = JSON.stringify(frame).split(EMPTY_SAMPLES)
  let turnedAt = 0
  for (const [index, part] of parts.entries()) {
    writer.text(part)
    if (index === parts.length - 1) break
    writer.text('"samples":[')
    for (const [place, series] of (results[index] ?? []).entries()) {
      const { name, labels, displayName, values } = series
      const metric = JSON.stringify({ name, labels, displayName })
      writer.text(`${place === 0 ? '' : ','}{"metric":${metric},"values":[`)
      writer.points(points, values, longest)
      writer.text(']}')
      if (writer.length - turnedAt < BYTES_PER_TURN) continue
      turnedAt = writer.length
      await setImmediate()
    }
    writer.text(']')
  }
  return writer.bytes()
}

interface Writer {
  readonly length: number
  text(text: string): void
  /** Each point that is one, behind its timestamp; `longest` bytes at most each. */
  points(timestamps: readonly Uint8Array[], values: AnswerSeries['values'], longest: number): void
  bytes(): Uint8Array
}

function createWriter(): Writer {
  let bytes = Buffer.allocUnsafeSlow(FIRST_CAPACITY)
  let length = 0

  function reserve(more: number): void {
    if (length + more <= bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * bytes.length, length + more))
    bytes.copy(larger, 0, 0, length)
    bytes = larger
  }

  return {
    get length() {
      return length
    },
    text(text) {
      reserve(3 * text.length)
      length += bytes.write(text, length)
    },
    points(timestamps, values, longest) {
      reserve(values.length * longest)
      let at = length
      for (let i = 0; i < values.length; i += 1) {
        const value = values[i] ?? null
        const timestamp = timestamps[i]
        if (value === null || !timestamp) continue
        if (at !== length) bytes[at++] = COMMA
        for (let j = 0; j < timestamp.length; j += 1) bytes[at + j] = timestamp[j] ?? 0
        at = writeNumber(bytes, at + timestamp.length, value)
        bytes[at++] = BRACE
      }
      length = at
    },
    bytes: () => bytes.subarray(0, length),
  }
}
