import { setImmediate } from 'node:timers/promises'
import type { AnswerSeries } from '../metrics/range-answer.ts'
import { pointHeads, WORD_BYTES, type PointHeads } from './point-heads.ts'
import { NUMBER_BYTES_MAX, writeNumber } from './write-number.ts'

/** Bytes written before other requests get their turn; a few milliseconds. */
const BYTES_PER_TURN = 400_000
const FIRST_CAPACITY = 16_384
/** More than this is not made room for on a guess. */
const RESERVED_MAX = 64 * 2 ** 20
const BRACE = 0x7d
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
  const heads = pointHeads(timestampsSeconds)
  const parts = JSON.stringify(frame).split(EMPTY_SAMPLES)
  let turnedAt = 0
  for (const [index, part] of parts.entries()) {
    writer.text(part)
    if (index === parts.length - 1) break
    writer.text('"samples":[')
    const startedAt = writer.length
    const all = results[index] ?? []
    for (const [place, series] of all.entries()) {
      const { name, labels, displayName, values } = series
      const metric = JSON.stringify({ name, labels, displayName })
      writer.text(`${place === 0 ? '' : ','}{"metric":${metric},"values":[`)
      writer.points(heads, values)
      writer.text(']}')
      // The others are about as long, so that what is written needs to be moved once at most.
      if (place === 0) {
        writer.reserve(Math.min(Math.ceil((writer.length - startedAt) * all.length * 1.05), RESERVED_MAX))
      }
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
  /** Makes room for so many bytes. */
  reserve(more: number): void
  text(text: string): void
  /** Each point that is one, behind its timestamp. */
  points(heads: PointHeads, values: AnswerSeries['values']): void
  bytes(): Uint8Array
}

function createWriter(): Writer {
  let bytes = Buffer.allocUnsafeSlow(FIRST_CAPACITY)
  let view = new DataView(bytes.buffer)
  let length = 0

  function reserve(more: number): void {
    if (length + more <= bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * bytes.length, length + more))
    bytes.copy(larger, 0, 0, length)
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
    points({ words, lengths, stride }, values) {
      reserve(values.length * (stride * WORD_BYTES + NUMBER_BYTES_MAX + 1))
      const start = length
      const [target, out] = [bytes, view]
      let at = start
      for (let i = 0; i < values.length; i += 1) {
        const value = values[i] ?? null
        if (value === null) continue
        const first = i * stride
        for (let word = 0; word < stride; word += 1) {
          out.setFloat64(at + word * WORD_BYTES, words[first + word] ?? 0, true)
        }
        at = writeNumber(target, at + (lengths[i] ?? 0), value)
        target[at++] = BRACE
      }
      // The first has a comma before it that no other one precedes.
      if (at > start) target.copyWithin(start, start + 1, at--)
      length = at
    },
    bytes: () => bytes.subarray(0, length),
  }
}
