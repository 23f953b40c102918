import { invalidArgument, ServiceError } from '../platform/errors.ts'
import { instantSeconds } from './instant-seconds.ts'
import { maybeMeant, nearestNames } from './nearest-names.ts'
import { unmatchedParenthesis } from './unmatched-parenthesis.ts'

/** A stretch of the bound text that is longer or shorter than what the caller wrote there. */
interface Replacement {
  /** Where it ends in the bound text, in characters from 0. */
  readonly end: number
  /** Characters that it has more than the caller's. */
  readonly growth: number
}

/** A statement as the caller wrote it, and as the engine is given it. */
export interface StatementSource {
  readonly given: string
  readonly bound: string
  readonly replacements: readonly Replacement[]
}

interface Place {
  readonly position?: number
  readonly engineCode?: string
}

/** What stands before the name that an error is about. */
const SUBJECT =
  /[Ii]dentifier|Function with name|function(?! identifier)|table(?= \S+ is not allowed)|^Table(?=.* does not exist)|^Column(?=.* is not under aggregate function)|^sqlQuery\.sql:(?= [A-Z]+ is not allowed)/
const IDENTIFIER = new RegExp(`(?:${SUBJECT.source}) (?:\`([^\`]+)\`|'([^']+)'|([A-Za-z_]\\w*(?:\\.\\w+)*))`)
const UNKNOWN = /^Unknown expression/
const NO_TIME = /^Cannot convert string '([^']+)' to type DateTime/
const HINT = /Maybe you meant: \[([^\]]*)\]/
const UNMATCHED = /Unmatched parentheses/
const FAILED = /Syntax error: failed at/
/** What is told of a character at which reading ended. The engine's own message would end with a NUL. */
const UNEXPECTED: Readonly<Record<string, (where: string) => string>> = {
  ';': (where) => `sqlQuery.sql must be one statement: the ; ${where} ends it`,
  '\0': (where) => `Syntax error: the character NUL ${where} may stand in texts only`,
}
/** Words that go on with a query, and are taken for an alias where they are misspelt. */
const CLAUSES = [
  'from',
  'where',
  'group',
  'order',
  'having',
  'limit',
  'offset',
  'union',
  'join',
  'select',
  'with',
  'between',
  'using',
  'array',
  'final',
  'like',
]
const WORD_CHARACTERS_MIN = 3
const UNBOUND = /^Substitution `(\w+)` is not set\.?$/

/**
 * An error of the engine with its place in the text of the caller: the engine counts bytes of what it was given. Where the engine names what it does
 * not know and no place, the only place at which that name stands is told. `hint` lists the names that the engine would have known (ER-4).
 */
export function placeError(error: unknown, source: StatementSource): unknown {
  if (!(error instanceof ServiceError) || error.code !== 'invalid_argument') return error
  const unbound = UNBOUND.exec(error.message)?.[1]
  if (unbound !== undefined)
    return invalidArgument(`sqlQuery.parameters.${unbound} is required: the statement names it`)
  const unmatched = UNMATCHED.test(error.message) ? unmatchedParenthesis(source.given) : null
  if (unmatched) {
    const fault = unmatched.isClosing ? 'closes nothing that is open' : 'is never closed'
    return syntaxErrorAt(
      source.given,
      unmatched.at,
      error,
      (where) => `Syntax error: the ${unmatched.character} ${where} ${fault}`,
    )
  }
  const [detail = {}, ...others] = error.details as readonly Place[]
  const at =
    detail.position === undefined ? findName(error.message, source.given) : toGiven(detail.position, source)
  const failedAt = FAILED.test(error.message) ? at : null
  const special = failedAt === null ? undefined : UNEXPECTED[source.given[failedAt] ?? '']
  if (failedAt !== null && special) return syntaxErrorAt(source.given, failedAt, error, special)
  const hint = failedAt === null ? readHint(error.message) : misspelt(source.given, failedAt)
  if (at === null && hint.length === 0) return error
  const place = at === null ? null : placeOf(source.given, at)
  const placed = { ...detail, ...place, ...(hint.length === 0 ? {} : { hint }) }
  const told = place ? inMessage(error.message, place) : error.message
  const advice = hint.length > 0 ? maybeMeant(hint) : at === null ? '' : aboutQuotes(told, source.given, at)
  const placedMessage = HINT.test(told) || advice === '' ? told : withAdvice(told, advice)
  return new ServiceError(error.code, placedMessage, {
    cause: error.cause,
    details: [placed, ...others],
  })
}

/** A syntax error in words of its own. `tell` is given where it is. */
function syntaxErrorAt(
  given: string,
  at: number,
  error: ServiceError,
  tell: (where: string) => string,
): ServiceError {
  const place = placeOf(given, at)
  const where = `at position ${place.position} (line ${place.line}, col ${place.column})`
  const details = [{ engineCode: 'SYNTAX_ERROR', ...place }]
  return new ServiceError('invalid_argument', tell(where), { cause: error.cause, details })
}

/** A question of the engine's ends by itself. */
function withAdvice(told: string, advice: string): string {
  return told.endsWith('?') ? `${told}${advice.replace(/^\./, '')}` : `${told.replace(/\.$/, '')}${advice}`
}

/** Other dialects, and other languages, write texts as ClickHouse writes names. */
function aboutQuotes(message: string, given: string, at: number): string {
  if (!UNKNOWN.test(message)) return ''
  const [, name] = /^"([^"]*)"/.exec(given.slice(Math.max(0, at - 1))) ?? []
  return name === undefined
    ? ''
    : `. A name stands between double quotes, a text between single ones: '${name}'`
}

/** What the word where reading ended, or the one before it, may be meant for. */
function misspelt(given: string, at: number): readonly string[] {
  const words = [/\w*$/.exec(given.slice(0, at).trimEnd())?.[0], /^\w*/.exec(given.slice(at))?.[0]]
  for (const word of words) {
    if (word === undefined || word.length < WORD_CHARACTERS_MIN || CLAUSES.includes(word.toLowerCase()))
      continue
    const names = nearestNames(word, CLAUSES, 2)
    if (names.length > 0) return names
  }
  return []
}

/** Characters from 0 in the caller's text, of a byte from 1 in the bound one. */
function toGiven(position: number, { given, bound, replacements }: StatementSource): number {
  const at = Buffer.from(bound)
    .subarray(0, Math.max(0, position - 1))
    .toString().length
  const grown = replacements.filter(({ end }) => end <= at).reduce((sum, { growth }) => sum + growth, 0)
  return Math.max(0, Math.min(given.length, at - grown))
}

function findName(message: string, given: string): number | null {
  const [, quoted, inQuotes, plain] = NO_TIME.exec(message) ?? IDENTIFIER.exec(message) ?? []
  const name = quoted ?? inQuotes ?? plain
  if (name === undefined) return null
  // The engine names a column with its table, which the statement need not do.
  const spellings = [name, name.slice(name.lastIndexOf('.') + 1)]
  const found =
    spellings.map((each) => [...given.matchAll(wordOf(each))]).find((each) => each.length > 0) ?? []
  return found.length === 1 ? (found[0]?.index ?? null) : null
}

function wordOf(name: string): RegExp {
  return new RegExp(`(?<![\\w.])${name.replaceAll(/[^\w\s]/g, '\\$&')}(?![\\w.])`, 'g')
}

function placeOf(text: string, at: number): { position: number; line: number; column: number } {
  const before = text.slice(0, at)
  return { position: at + 1, line: before.split('\n').length, column: at - before.lastIndexOf('\n') }
}

function inMessage(
  message: string,
  { position, line, column }: { position: number; line: number; column: number },
): string {
  return message
    .replace(/failed at position \d+/, `failed at position ${position}`)
    .replace(/\(line \d+, col \d+\)/, `(line ${line}, col ${column})`)
}

function readHint(message: string): readonly string[] {
  const seconds = instantSeconds(NO_TIME.exec(message)?.[1] ?? '')
  if (seconds !== null) return [timeText(seconds)]
  const [, list = ''] = HINT.exec(message) ?? []
  return [...list.matchAll(/'([^']+)'/g)].map(([, name]) => name ?? '')
}

/** Seconds since 1970 as the engine reads a time in UTC, to the millisecond. */
function timeText(seconds: string): string {
  const at = new Date(Math.floor(Number(seconds) * 1000))
  return at
    .toISOString()
    .replace('T', ' ')
    .replace(/(?:\.000)?Z$/, '')
}
