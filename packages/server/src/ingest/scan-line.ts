const TAB = 0x09
const RETURN = 0x0d
const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const COLON = 0x3a
const BACKSLASH = 0x5c
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
/** No hash is longer (IN-1). */
const MAX_HASH_LENGTH = 128
const UINT32_MAX = 0xffff_ffff
/** Longer numbers may hold more digits than a Float64. */
const MAX_NUMBER_LENGTH = 17

/** Where a text stands in a line; the empty text where it does not. */
export class Slot {
  start = 0
  end = 0

  set(start: number, end: number): void {
    this.start = start
    this.end = end
  }

  of(text: string): string {
    return text.slice(this.start, this.end)
  }

  is(text: string, expected: string): boolean {
    return expected.length === this.end - this.start && text.startsWith(expected, this.start)
  }
}

/** The fields of a plain line, used again for every line. */
export interface LineFields {
  readonly type: Slot
  readonly name: Slot
  readonly chain: Slot
  readonly contract: Slot
  readonly address: Slot
  readonly blockHash: Slot
  readonly transactionHash: Slot
  /** The object as it is written, braces included. */
  readonly labels: Slot
  value: number
  blockNumber: number
  timestampMicros: number
  transactionIndex: number
  logIndex: number
}

export function createLineFields(): LineFields {
  return {
    type: new Slot(),
    name: new Slot(),
    chain: new Slot(),
    contract: new Slot(),
    address: new Slot(),
    blockHash: new Slot(),
    transactionHash: new Slot(),
    labels: new Slot(),
    value: 0,
    blockNumber: 0,
    timestampMicros: -1,
    transactionIndex: 0,
    logIndex: 0,
  }
}

/** The fields by their names in either spelling (WI-2), each with the bit that tells that it was there. */
const BITS: ReadonlyMap<string, number> = new Map([
  ['type', 1],
  ['name', 2],
  ['chain', 4],
  ['contract', 8],
  ['address', 16],
  ['blockHash', 32],
  ['block_hash', 32],
  ['transactionHash', 64],
  ['transaction_hash', 64],
  ['labels', 128],
  ['value', 256],
  ['blockNumber', 512],
  ['block_number', 512],
  ['timestampMicros', 1024],
  ['timestamp_micros', 1024],
  ['transactionIndex', 2048],
  ['transaction_index', 2048],
  ['logIndex', 4096],
  ['log_index', 4096],
])
const REQUIRED = 1 | 2 | 256 | 1024

/** Where the last value ended: a second result, without an object for it. */
let position = 0

/**
 * Reads a line into `fields`. False for a line that is not plain, whether or not it is valid: one with escapes, other fields or one twice,
 * values of other kinds, integers that are not written as digits, or numbers of 18 or more characters.
 */
export function scanLine(text: string, start: number, end: number, fields: LineFields): boolean {
  clear(fields)
  let seen = 0
  let at = skipSpaces(text, start)
  if (text.charCodeAt(at) !== OPEN_BRACE) return false
  do {
    at = skipSpaces(text, at + 1)
    const keyEnd = endOfString(text, at)
    if (keyEnd < 0) return false
    const key = text.slice(at + 1, keyEnd - 1)
    const bit = BITS.get(key) ?? 0
    if (bit === 0 || (seen & bit) !== 0) return false
    seen |= bit
    at = skipSpaces(text, keyEnd)
    if (text.charCodeAt(at) !== COLON) return false
    if (!readField(text, skipSpaces(text, at + 1), bit, fields)) return false
    at = skipSpaces(text, position)
  } while (text.charCodeAt(at) === COMMA)
  if (text.charCodeAt(at) !== CLOSE_BRACE || (seen & REQUIRED) !== REQUIRED) return false
  return skipSpaces(text, at + 1) === end
}

function readField(text: string, at: number, bit: number, fields: LineFields): boolean {
  switch (bit) {
    case 1:
      return readText(text, at, fields.type)
    case 2:
      return readText(text, at, fields.name)
    case 4:
      return readText(text, at, fields.chain)
    case 8:
      return readText(text, at, fields.contract)
    case 16:
      return readText(text, at, fields.address)
    case 32:
      return readText(text, at, fields.blockHash) && lengthOf(fields.blockHash) <= MAX_HASH_LENGTH
    case 64:
      return readText(text, at, fields.transactionHash) && lengthOf(fields.transactionHash) <= MAX_HASH_LENGTH
    case 128:
      return readLabels(text, at, fields.labels)
    case 256:
      return !Number.isNaN((fields.value = readNumber(text, at)))
    case 512:
      return (fields.blockNumber = readNatural(text, at)) >= 0
    case 1024:
      return (fields.timestampMicros = readNatural(text, at)) >= 0
    case 2048:
      fields.transactionIndex = readNatural(text, at)
      return fields.transactionIndex >= 0 && fields.transactionIndex <= UINT32_MAX
    case 4096:
      fields.logIndex = readNatural(text, at)
      return fields.logIndex >= 0 && fields.logIndex <= UINT32_MAX
    default:
      return false
  }
}

function readText(text: string, at: number, slot: Slot): boolean {
  const end = endOfString(text, at)
  if (end < 0) return false
  slot.set(at + 1, end - 1)
  position = end
  return true
}

/** The position behind the string that begins here; -1 where none does, or it holds what JSON escapes. */
function endOfString(text: string, at: number): number {
  if (text.charCodeAt(at) !== QUOTE) return -1
  for (let i = at + 1; i < text.length; i++) {
    const character = text.charCodeAt(i)
    if (character === QUOTE) return i + 1
    if (character === BACKSLASH || character < SPACE) return -1
  }
  return -1
}

/**
 * The labels up to their closing brace. Not whether they are labels: only spellings that were read carefully before are known, and a
 * brace inside a text ends one that is not.
 */
function readLabels(text: string, at: number, slot: Slot): boolean {
  if (text.charCodeAt(at) !== OPEN_BRACE) return false
  for (let i = at + 1; i < text.length; i++) {
    const character = text.charCodeAt(i)
    if (character === CLOSE_BRACE) {
      slot.set(at, i + 1)
      position = i + 1
      return true
    }
    if (character === BACKSLASH || character < SPACE || character === OPEN_BRACE) return false
  }
  return false
}

/** A number as JSON writes it, without an exponent; NaN for anything else, and where digits may have been lost. */
function readNumber(text: string, at: number): number {
  const first = text.charCodeAt(at) === MINUS ? at + 1 : at
  let end = skipDigits(text, first)
  if (end === first || (end > first + 1 && text.charCodeAt(first) === ZERO)) return Number.NaN
  if (text.charCodeAt(end) === POINT) {
    const fraction = end + 1
    end = skipDigits(text, fraction)
    if (end === fraction) return Number.NaN
  }
  position = end
  return end - at <= MAX_NUMBER_LENGTH ? Number(text.slice(at, end)) : Number.NaN
}

/** A whole number in digits; -1 for anything else, and beyond what a number holds exactly. */
function readNatural(text: string, at: number): number {
  const end = skipDigits(text, at)
  if (end === at || end > at + 16 || (end > at + 1 && text.charCodeAt(at) === ZERO)) return -1
  let number = 0
  for (let i = at; i < end; i++) number = number * 10 + text.charCodeAt(i) - ZERO
  position = end
  return number <= Number.MAX_SAFE_INTEGER ? number : -1
}

function skipDigits(text: string, at: number): number {
  let i = at
  while (isDigit(text.charCodeAt(i))) i++
  return i
}

function isDigit(character: number): boolean {
  return character >= ZERO && character <= NINE
}

/** Line feeds end lines, so they are no space here. */
function skipSpaces(text: string, at: number): number {
  let i = at
  while (text.charCodeAt(i) === SPACE || text.charCodeAt(i) === TAB || text.charCodeAt(i) === RETURN) i++
  return i
}

function clear(fields: LineFields): void {
  fields.chain.set(0, 0)
  fields.contract.set(0, 0)
  fields.address.set(0, 0)
  fields.blockHash.set(0, 0)
  fields.transactionHash.set(0, 0)
  fields.labels.set(0, 0)
  fields.blockNumber = 0
  fields.transactionIndex = 0
  fields.logIndex = 0
}

function lengthOf({ start, end }: Slot): number {
  return end - start
}
