import { createKeyOrder, type KeyOrder } from './key-order.ts'

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
/** A decimal of so many digits is the quotient of two numbers that a Float64 holds exactly, so it is rounded once, as the standard asks. */
const MAX_QUOTIENT_DIGITS = 15
const POWERS_OF_TEN = Array.from({ length: MAX_QUOTIENT_DIGITS + 1 }, (_, power) => 10 ** power)

/** Where a text stands among the bytes; the empty text where it does not. */
export class Slot {
  start = 0
  end = 0

  set(start: number, end: number): void {
    this.start = start
    this.end = end
  }

  is(bytes: Uint8Array, expected: Uint8Array): boolean {
    const { length } = expected
    if (length !== this.end - this.start) return false
    for (let i = 0; i < length; i++) if (bytes[this.start + i] !== expected[i]) return false
    return true
  }
}

/** The fields of a plain line, used again for every line. */
export interface LineFields {
  /** Senders write the keys of one line as those of the one before. */
  readonly order: KeyOrder
  readonly type: Slot
  readonly name: Slot
  readonly chain: Slot
  readonly contract: Slot
  readonly address: Slot
  readonly blockHash: Slot
  readonly transactionHash: Slot
  /** The object as it is written, braces included. */
  readonly labels: Slot
  /** A number that mostly differs between labels that differ. */
  labelsHash: number
  value: number
  blockNumber: number
  timestampMicros: number
  transactionIndex: number
  logIndex: number
}

export function createLineFields(): LineFields {
  return {
    order: createKeyOrder(),
    type: new Slot(),
    name: new Slot(),
    chain: new Slot(),
    contract: new Slot(),
    address: new Slot(),
    blockHash: new Slot(),
    transactionHash: new Slot(),
    labels: new Slot(),
    labelsHash: 0,
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
 * Reads a line of UTF-8 into `fields`. False for a line that is not plain, whether or not it is valid: one with escapes, other fields or one
 * twice, values of other kinds, integers that are not written as digits, or numbers of 18 or more characters.
 */
export function scanLine(bytes: Uint8Array, start: number, end: number, fields: LineFields): boolean {
  clear(fields)
  const { order } = fields
  let seen = 0
  let at = start
  for (let key = 0; ; key++) {
    let bit = order.bitAt(key, bytes, at)
    if (bit === 0) {
      bit = readKey(bytes, at, key, order)
      if (bit === 0) return false
      at = position
    } else at += order.lengthAt(key)
    if ((seen & bit) !== 0) return false
    seen |= bit
    if (!readField(bytes, at, bit, fields)) return false
    at = position
    const next = bytes[at]
    if (next === COMMA) continue
    if (next === CLOSE_BRACE) break
    at = skipSpaces(bytes, at)
    if (bytes[at] === CLOSE_BRACE) break
    if (bytes[at] !== COMMA) return false
  }
  if ((seen & REQUIRED) !== REQUIRED) return false
  return skipSpaces(bytes, at + 1) === end
}

/** Reads what stands before a value: brace or comma, name, colon. Returns the field's bit, 0 for none of ours, and remembers how it is written. */
function readKey(bytes: Uint8Array, start: number, key: number, order: KeyOrder): number {
  let at = key === 0 ? skipSpaces(bytes, start) : start
  if (bytes[at] !== (key === 0 ? OPEN_BRACE : COMMA)) return 0
  at = skipSpaces(bytes, at + 1)
  const keyEnd = endOfString(bytes, at)
  if (keyEnd < 0) return 0
  const bit = BITS.get(String.fromCharCode(...bytes.subarray(at + 1, Math.min(keyEnd - 1, at + 32)))) ?? 0
  at = skipSpaces(bytes, keyEnd)
  if (bit === 0 || bytes[at] !== COLON) return 0
  position = skipSpaces(bytes, at + 1)
  order.learn(key, bytes, start, position, bit)
  return bit
}

function readField(bytes: Uint8Array, at: number, bit: number, fields: LineFields): boolean {
  switch (bit) {
    case 1:
      return readText(bytes, at, fields.type)
    case 2:
      return readText(bytes, at, fields.name)
    case 4:
      return readText(bytes, at, fields.chain)
    case 8:
      return readText(bytes, at, fields.contract)
    case 16:
      return readText(bytes, at, fields.address)
    case 32:
      return readText(bytes, at, fields.blockHash) && lengthOf(fields.blockHash) <= MAX_HASH_LENGTH
    case 64:
      return (
        readText(bytes, at, fields.transactionHash) && lengthOf(fields.transactionHash) <= MAX_HASH_LENGTH
      )
    case 128:
      return readLabels(bytes, at, fields)
    case 256:
      return !Number.isNaN((fields.value = readNumber(bytes, at)))
    case 512:
      return (fields.blockNumber = readNatural(bytes, at)) >= 0
    case 1024:
      return (fields.timestampMicros = readNatural(bytes, at)) >= 0
    case 2048:
      fields.transactionIndex = readNatural(bytes, at)
      return fields.transactionIndex >= 0 && fields.transactionIndex <= UINT32_MAX
    case 4096:
      fields.logIndex = readNatural(bytes, at)
      return fields.logIndex >= 0 && fields.logIndex <= UINT32_MAX
    default:
      return false
  }
}

function readText(bytes: Uint8Array, at: number, slot: Slot): boolean {
  const end = endOfString(bytes, at)
  if (end < 0) return false
  slot.set(at + 1, end - 1)
  position = end
  return true
}

/** The position behind the string that begins here; -1 where none does, or it holds what JSON escapes. */
function endOfString(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== QUOTE) return -1
  const { length } = bytes
  for (let i = at + 1; i < length; i++) {
    const byte = bytes[i] ?? 0
    if (byte === QUOTE) return i + 1
    if (byte === BACKSLASH || byte < SPACE) return -1
  }
  return -1
}

/**
 * The labels up to their closing brace. Not whether they are labels: only spellings that were read carefully before are known, and a
 * brace inside a text ends one that is not.
 */
function readLabels(bytes: Uint8Array, at: number, fields: LineFields): boolean {
  if (bytes[at] !== OPEN_BRACE) return false
  const { length } = bytes
  let hash = 0x811c_9dc5
  for (let i = at + 1; i < length; i++) {
    const byte = bytes[i] ?? 0
    if (byte === CLOSE_BRACE) {
      fields.labels.set(at, i + 1)
      fields.labelsHash = hash
      position = i + 1
      return true
    }
    if (byte === BACKSLASH || byte < SPACE || byte === OPEN_BRACE) return false
    // FNV-1a.
    hash = Math.imul(hash ^ byte, 0x0100_0193)
  }
  return false
}

/** A number as JSON writes it, without an exponent; NaN for anything else, and where digits may have been lost. */
function readNumber(bytes: Uint8Array, at: number): number {
  const isNegative = bytes[at] === MINUS
  const first = isNegative ? at + 1 : at
  let end = first
  let digits = 0
  for (; isDigit(bytes[end] ?? 0); end++) digits = digits * 10 + (bytes[end] ?? 0) - ZERO
  let count = end - first
  if (count === 0 || (count > 1 && bytes[first] === ZERO)) return Number.NaN
  let decimals = 0
  if (bytes[end] === POINT) {
    const fraction = end + 1
    for (end = fraction; isDigit(bytes[end] ?? 0); end++) digits = digits * 10 + (bytes[end] ?? 0) - ZERO
    decimals = end - fraction
    if (decimals === 0) return Number.NaN
    count += decimals
  }
  position = end
  if (end - at > MAX_NUMBER_LENGTH) return Number.NaN
  if (count > MAX_QUOTIENT_DIGITS) return Number(String.fromCharCode(...bytes.subarray(at, end)))
  const value = decimals === 0 ? digits : digits / (POWERS_OF_TEN[decimals] ?? 1)
  return isNegative ? -value : value
}

/** A whole number in digits; -1 for anything else, and beyond what a number holds exactly. */
function readNatural(bytes: Uint8Array, at: number): number {
  let end = at
  let number = 0
  for (; isDigit(bytes[end] ?? 0); end++) number = number * 10 + (bytes[end] ?? 0) - ZERO
  if (end === at || end > at + 16 || (end > at + 1 && bytes[at] === ZERO)) return -1
  position = end
  return number <= Number.MAX_SAFE_INTEGER ? number : -1
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE
}

/** Line feeds end lines, so they are no space here. */
function skipSpaces(bytes: Uint8Array, at: number): number {
  let i = at
  while (bytes[i] === SPACE || bytes[i] === TAB || bytes[i] === RETURN) i++
  return i
}

function clear(fields: LineFields): void {
  fields.chain.set(0, 0)
  fields.contract.set(0, 0)
  fields.address.set(0, 0)
  fields.blockHash.set(0, 0)
  fields.transactionHash.set(0, 0)
  fields.labels.set(0, 0)
  fields.labelsHash = 0
  fields.blockNumber = 0
  fields.transactionIndex = 0
  fields.logIndex = 0
}

function lengthOf({ start, end }: Slot): number {
  return end - start
}
