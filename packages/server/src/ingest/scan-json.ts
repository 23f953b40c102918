/**
 * Finds where the values of a JSON text lie, so that they can be forwarded as they were written (DL-1, IN-6).
 * Every function takes a text that `JSON.parse` has accepted and does not check it again.
 */

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const COMMA = 0x2c
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d

/** A value inside a text: from `start` up to, not including, `end`. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** The members of the object that begins at or after `at`, each with the span of its value. A repeated key keeps its last value, as in `JSON.parse`. */
export function membersOf(text: string, at: number): Map<string, Span> {
  const members = new Map<string, Span>()
  let i = skipSpace(text, skipSpace(text, at) + 1)
  while (text.charCodeAt(i) !== CLOSE_BRACE) {
    const keyEnd = endOfString(text, i)
    const rawKey = text.slice(i + 1, keyEnd - 1)
    const key = rawKey.includes('\\') ? (JSON.parse(text.slice(i, keyEnd)) as string) : rawKey
    i = skipSpace(text, keyEnd)
    if (text.charCodeAt(i) === COLON) i = skipSpace(text, i + 1)
    const end = endOfValue(text, i)
    members.set(key, { start: i, end })
    i = skipSpace(text, end)
    if (text.charCodeAt(i) === COMMA) i = skipSpace(text, i + 1)
  }
  return members
}

/** The spans of the elements of the array that begins at or after `at`. */
export function elementsOf(text: string, at: number): Span[] {
  const elements: Span[] = []
  let i = skipSpace(text, skipSpace(text, at) + 1)
  while (text.charCodeAt(i) !== CLOSE_BRACKET) {
    const end = endOfValue(text, i)
    elements.push({ start: i, end })
    i = skipSpace(text, end)
    if (text.charCodeAt(i) === COMMA) i = skipSpace(text, i + 1)
  }
  return elements
}

/** The position behind the value that begins at `at`. */
export function endOfValue(text: string, at: number): number {
  const first = text.charCodeAt(at)
  if (first === QUOTE) return endOfString(text, at)
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return endOfNested(text, at)
  let i = at
  while (i < text.length && !endsLiteral(text.charCodeAt(i))) i++
  return i
}

function endOfNested(text: string, at: number): number {
  let depth = 0
  let i = at
  while (i < text.length) {
    const character = text.charCodeAt(i)
    if (character === QUOTE) {
      i = endOfString(text, i)
      continue
    }
    if (character === OPEN_BRACE || character === OPEN_BRACKET) depth++
    else if (character === CLOSE_BRACE || character === CLOSE_BRACKET) depth--
    i++
    if (depth === 0) break
  }
  return i
}

function endOfString(text: string, at: number): number {
  let quote = text.indexOf('"', at + 1)
  while (isEscaped(text, quote)) quote = text.indexOf('"', quote + 1)
  return quote + 1
}

function isEscaped(text: string, quote: number): boolean {
  let backslashes = 0
  while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes++
  return backslashes % 2 === 1
}

function skipSpace(text: string, at: number): number {
  let i = at
  while (isSpace(text.charCodeAt(i))) i++
  return i
}

function isSpace(character: number): boolean {
  return character === 0x20 || character === 0x0a || character === 0x0d || character === 0x09
}

function endsLiteral(character: number): boolean {
  return character === COMMA || character === CLOSE_BRACE || character === CLOSE_BRACKET || isSpace(character)
}
