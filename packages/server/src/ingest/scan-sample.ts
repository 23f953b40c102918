import type { Place, Sample, Series } from './batch.ts'
import { isBeyondExactIntegers } from './exact-number.ts'
import { LATEST_MICROS } from './parse-time.ts'
import { createLineFields, scanLine, type LineFields } from './scan-line.ts'

/**
 * Reads the plain lines of NDJSON that most senders send without making objects of them: a counter or gauge whose fields are
 * written without escapes, of a series that has been seen. Reading one costs a third of `JSON.parse` and what follows it.
 */
export interface SampleScanner {
  /** The sample of a line, the same that the careful reading gives; null where the line has to be read carefully. */
  scan(text: string, start: number, end: number, index: number): Sample | null
  /** Remembers the series of a line that was read carefully. */
  learn(text: string, start: number, end: number, series: Series): void
}

/** What the lines of one metric at one contract have in common; its texts are kept, so that lines need none of their own. */
interface Head {
  readonly type: string
  readonly name: string
  readonly chain: string
  readonly contract: string
  readonly address: string
  /** By the labels as they are written. */
  readonly series: Map<string, Series>
}

const MAX_HEADS = 64
const NO_PLACE: Place = {
  chain: '',
  blockNumber: -1,
  timestampMicros: 0,
  blockHash: '',
  transactionHash: '',
  transactionIndex: 0,
  logIndex: 0,
  contract: '',
  address: '',
}

/** Remembers up to `maxRemembered` spellings of labels and starts afresh when full. */
export function createSampleScanner(maxRemembered = 200_000): SampleScanner {
  const fields = createLineFields()
  let heads: Head[] = []
  let remembered = 0
  let lastHead: Head | undefined
  let lastPlace = NO_PLACE

  function findHead(text: string): Head | undefined {
    if (lastHead && isHead(lastHead, text, fields)) return lastHead
    lastHead = heads.find((head) => isHead(head, text, fields))
    return lastHead
  }

  function placeOf(text: string, head: Head): Place {
    const { blockNumber, timestampMicros, transactionIndex, logIndex } = fields
    const last = lastPlace
    const isSame =
      last.blockNumber === blockNumber &&
      last.timestampMicros === timestampMicros &&
      last.transactionIndex === transactionIndex &&
      last.logIndex === logIndex &&
      last.chain === head.chain &&
      last.contract === head.contract &&
      last.address === head.address &&
      fields.blockHash.is(text, last.blockHash) &&
      fields.transactionHash.is(text, last.transactionHash)
    if (isSame) return last
    lastPlace = {
      chain: head.chain,
      blockNumber,
      timestampMicros,
      blockHash: fields.blockHash.of(text),
      transactionHash: fields.transactionHash.of(text),
      transactionIndex,
      logIndex,
      contract: head.contract,
      address: head.address,
    }
    return lastPlace
  }

  return {
    scan: (text, start, end, index) => {
      if (!scanLine(text, start, end, fields)) return null
      const { value, timestampMicros } = fields
      if (isBeyondExactIntegers(value) || timestampMicros < 0 || timestampMicros > LATEST_MICROS) return null
      const head = findHead(text)
      const series = head?.series.get(fields.labels.of(text))
      if (!head || !series) return null
      return { series, value, exact: '', place: placeOf(text, head), index }
    },

    learn: (text, start, end, series) => {
      if (!scanLine(text, start, end, fields)) return
      let head = findHead(text)
      if (!head || remembered >= maxRemembered) {
        if (heads.length >= MAX_HEADS || remembered >= maxRemembered) {
          heads = []
          remembered = 0
        }
        head = {
          type: copyOf(fields.type.of(text)),
          name: copyOf(fields.name.of(text)),
          chain: copyOf(fields.chain.of(text)),
          contract: copyOf(fields.contract.of(text)),
          address: copyOf(fields.address.of(text)),
          series: new Map(),
        }
        heads.push(head)
        lastHead = head
      }
      head.series.set(copyOf(fields.labels.of(text)), series)
      remembered++
    },
  }
}

function isHead(head: Head, text: string, { type, name, chain, contract, address }: LineFields): boolean {
  return (
    name.is(text, head.name) &&
    type.is(text, head.type) &&
    chain.is(text, head.chain) &&
    contract.is(text, head.contract) &&
    address.is(text, head.address)
  )
}

/** A text that does not keep the whole body alive, as a slice of it would. */
function copyOf(slice: string): string {
  return Buffer.from(slice).toString()
}
