import type { Place, Sample, Series } from './batch.ts'
import { isBeyondExactIntegers } from './exact-number.ts'
import { LATEST_MICROS } from './parse-time.ts'
import { createLineFields, scanLine, type LineFields, type Slot } from './scan-line.ts'

/**
 * Reads the plain lines of NDJSON that most senders send without making texts and objects of them: a counter or gauge whose fields
 * are written without escapes, of a series that has been seen. Reading one costs a tenth of `JSON.parse` and what follows it.
 */
export interface SampleScanner {
  /** The sample of a line of UTF-8, the same that the careful reading gives; null where the line has to be read carefully. */
  scan(bytes: Uint8Array, start: number, end: number, index: number): Sample | null
  /** Remembers the series of a line that was read carefully. */
  learn(bytes: Uint8Array, start: number, end: number, series: Series): void
}

/** What the lines of one metric at one contract have in common; its texts are kept, so that lines need none of their own. */
interface Head {
  readonly type: Uint8Array
  readonly name: Uint8Array
  readonly chain: Text
  readonly contract: Text
  readonly address: Text
  /** By the hash of the labels as they are written; of those with one hash, the one that was learnt last. */
  readonly series: Map<number, { readonly labels: Uint8Array; readonly series: Series }>
}

/** A text and its bytes. */
interface Text {
  readonly text: string
  readonly bytes: Uint8Array
}

const MAX_HEADS = 64
const NO_TEXT: Text = { text: '', bytes: new Uint8Array() }

/** Remembers up to `maxRemembered` spellings of labels and starts afresh when full. */
export function createSampleScanner(maxRemembered = 200_000): SampleScanner {
  const fields = createLineFields()
  let heads: Head[] = []
  let remembered = 0
  let lastHead: Head | undefined
  let lastPlace: Place | undefined
  let blockHash = NO_TEXT
  let transactionHash = NO_TEXT

  function findHead(bytes: Uint8Array): Head | undefined {
    if (lastHead && isHead(lastHead, bytes, fields)) return lastHead
    lastHead = heads.find((head) => isHead(head, bytes, fields))
    return lastHead
  }

  function placeOf(bytes: Uint8Array, { chain, contract, address }: Head): Place {
    const { blockNumber, timestampMicros, transactionIndex, logIndex } = fields
    blockHash = textOf(bytes, fields.blockHash, blockHash)
    transactionHash = textOf(bytes, fields.transactionHash, transactionHash)
    const last = lastPlace
    const isSame =
      last?.timestampMicros === timestampMicros &&
      last.blockNumber === blockNumber &&
      last.transactionIndex === transactionIndex &&
      last.logIndex === logIndex &&
      last.chain === chain.text &&
      last.contract === contract.text &&
      last.address === address.text &&
      last.blockHash === blockHash.text &&
      last.transactionHash === transactionHash.text
    if (isSame) return last
    lastPlace = {
      chain: chain.text,
      blockNumber,
      timestampMicros,
      blockHash: blockHash.text,
      transactionHash: transactionHash.text,
      transactionIndex,
      logIndex,
      contract: contract.text,
      address: address.text,
    }
    return lastPlace
  }

  return {
    scan: (bytes, start, end, index) => {
      if (!scanLine(bytes, start, end, fields)) return null
      const { value, timestampMicros } = fields
      if (isBeyondExactIntegers(value) || timestampMicros < 0 || timestampMicros > LATEST_MICROS) return null
      const head = findHead(bytes)
      const known = head?.series.get(fields.labelsHash)
      if (!head || !known || !fields.labels.is(bytes, known.labels)) return null
      return { series: known.series, value, exact: '', place: placeOf(bytes, head), index }
    },

    learn: (bytes, start, end, series) => {
      if (!scanLine(bytes, start, end, fields)) return
      let head = findHead(bytes)
      if (!head || remembered >= maxRemembered) {
        if (heads.length >= MAX_HEADS || remembered >= maxRemembered) {
          heads = []
          remembered = 0
        }
        head = {
          type: copyOf(bytes, fields.type),
          name: copyOf(bytes, fields.name),
          chain: textOf(bytes, fields.chain),
          contract: textOf(bytes, fields.contract),
          address: textOf(bytes, fields.address),
          series: new Map(),
        }
        heads.push(head)
        lastHead = head
      }
      if (!head.series.has(fields.labelsHash)) remembered++
      head.series.set(fields.labelsHash, { labels: copyOf(bytes, fields.labels), series })
    },
  }
}

function isHead(
  head: Head,
  bytes: Uint8Array,
  { type, name, chain, contract, address }: LineFields,
): boolean {
  return (
    name.is(bytes, head.name) &&
    type.is(bytes, head.type) &&
    chain.is(bytes, head.chain.bytes) &&
    contract.is(bytes, head.contract.bytes) &&
    address.is(bytes, head.address.bytes)
  )
}

/** The text of a slot, the one that is given where it is the same. */
function textOf(bytes: Uint8Array, slot: Slot, last: Text = NO_TEXT): Text {
  if (slot.is(bytes, last.bytes)) return last
  const own = copyOf(bytes, slot)
  return { text: own.toString(), bytes: own }
}

/** Bytes that do not keep the whole body alive. */
function copyOf(bytes: Uint8Array, { start, end }: Slot): Buffer {
  return Buffer.from(bytes.subarray(start, end))
}
