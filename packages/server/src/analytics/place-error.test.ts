import { expect, it } from 'vitest'
import { ServiceError } from '../platform/errors.ts'
import { bindParameters } from './parameters.ts'
import { placeError } from './place-error.ts'

/** The error that the engine gives for the first `word` of the bound text, and what becomes of it. */
function placed(given: string, parameters: Record<string, unknown>, word: string): ServiceError {
  const { sql, source } = bindParameters(given, parameters)
  const position = Buffer.byteLength(sql.slice(0, sql.indexOf(word))) + 1
  const message = `Syntax error: failed at position ${position} (${word}) (line 9, col 9): ${word}`
  return placeError(
    new ServiceError('invalid_argument', message, { details: [{ position }] }),
    source,
  ) as ServiceError
}

it('tells the place in the text that the caller wrote, behind ${name} and letters of several bytes (ER-4)', () => {
  const given = "select ${a}, 'ä€😀',\n  ${a} frm x"
  const error = placed(given, { a: [1, 2] }, 'frm')
  expect(error.details).toEqual([{ position: given.indexOf('frm') + 1, line: 2, column: 8, hint: ['from'] }])
  expect(error.message).toContain(`failed at position ${given.indexOf('frm') + 1} (frm) (line 2, col 8)`)
})

it('finds the name that the engine does not know, where it stands once, and tells the hint apart (ER-4)', () => {
  const { source } = bindParameters('select ida,\n idd from t', {})
  const unknown = (name: string): ServiceError =>
    placeError(
      new ServiceError(
        'invalid_argument',
        `Unknown expression identifier \`${name}\` in scope x. Maybe you meant: ['id', 'ida']`,
      ),
      source,
    ) as ServiceError
  expect(unknown('idd').details).toEqual([{ position: 14, line: 2, column: 2, hint: ['id', 'ida'] }])
  expect(unknown('id').details).toEqual([{ hint: ['id', 'ida'] }])
})

it('leaves every other error as it is', () => {
  const { source } = bindParameters('select 1', {})
  const error = new ServiceError('unavailable', 'identifier x', { retryAfterSeconds: 1 })
  expect(placeError(error, source)).toBe(error)
})

it.each([
  ['select * from Transfer whre 1', '1', ['where']],
  ['select * from Transfer t jion x', 'x', ['join']],
  ['select a frm x', 'x', ['from']],
  ['select a b c from Transfer', 'c', null],
  ['select from Transfer', 'Transfer', null],
])('names the word that is meant perhaps, where reading ended: %s (ER-4)', (given, word, hint) => {
  const error = placed(given, {}, ` ${word}`)
  expect((error.details[0] as { hint?: unknown }).hint ?? null).toEqual(hint)
  expect(error.message.includes('Maybe you meant')).toBe(hint !== null)
})

it('tells the place of a parenthesis without another (ER-4)', () => {
  const { source } = bindParameters("select ')', (1, 2", {})
  const error = new ServiceError(
    'invalid_argument',
    'Syntax error: failed at the end. Unmatched parentheses: (.',
  )
  const { message, details } = placeError(error, source) as ServiceError
  expect(message).toBe('Syntax error: the ( at position 13 (line 1, col 13) is never closed')
  expect(details).toEqual([{ engineCode: 'SYNTAX_ERROR', position: 13, line: 1, column: 13 }])
})

it.each([
  ['Unknown expression identifier `1d` in scope x', 'select now() - 1d', 16, null],
  [
    "Column 'Transfer.chain' is not under aggregate function and not in GROUP BY keys.",
    'select count(), chain',
    17,
    null,
  ],
  ['Illegal type String of argument for aggregate function sum.', 'select sum(a)', 8, null],
  [
    'sqlQuery.sql: the table system.tables is not allowed: name a table',
    'select * from system.tables',
    15,
    null,
  ],
  ['sqlQuery.sql: SETTINGS is not allowed', 'select 1 SETTINGS a = 1', 10, null],
  ['Unknown expression or function identifier `31337` in scope x.', 'select * where a = "31337"', 21, null],
  [
    "Cannot convert string '2026-11-20T01:00:00.5+01:00' to type DateTime64(6, 'UTC').",
    "select t > '2026-11-20T01:00:00.5+01:00'",
    13,
    ['2026-11-20 00:00:00.500'],
  ],
  ["Cannot convert string 'noon' to type DateTime64(6, 'UTC').", "select t > 'noon'", 13, null],
])('tells where it is that an error speaks of: %s (ER-4)', (message, given, position, hint) => {
  const { source } = bindParameters(given, {})
  const placed = placeError(new ServiceError('invalid_argument', message), source) as ServiceError
  expect(placed.details).toEqual([
    { position, line: 1, column: position, ...(hint === null ? {} : { hint }) },
  ])
})

it('says which quotes are those of a text, and where a NUL stands (ER-4)', () => {
  const about = (given: string, message: string, details: readonly object[] = []): string => {
    const { source } = bindParameters(given, {})
    return (placeError(new ServiceError('invalid_argument', message, { details }), source) as ServiceError)
      .message
  }
  expect(about('select "31337"', 'Unknown expression identifier `31337` in scope x.')).toBe(
    "Unknown expression identifier `31337` in scope x. A name stands between double quotes, a text between single ones: '31337'",
  )
  expect(about('select "a"', 'Unknown expression identifier `a` in scope x. Did you forget to add it?')).toBe(
    "Unknown expression identifier `a` in scope x. Did you forget to add it? A name stands between double quotes, a text between single ones: 'a'",
  )
  const nul = about('select 1\0', 'Syntax error: failed at position 9 (', [{ position: 9 }])
  expect(nul).toBe('Syntax error: the character NUL at position 9 (line 1, col 9) may stand in texts only')
})
