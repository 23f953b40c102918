import { expect, it } from 'vitest'
import { shortenExpected } from './expected-words.ts'

const EXPRESSION =
  'CAST operator, NOT, INTERVAL, CASE, DATE, TIMESTAMP, tuple, collection of literals, array, number, literal, NULL, NULL, Bool, TRUE, FALSE, string literal, asterisk, identifier, function name'
const OPERATOR =
  'token, DoubleColon, OR, AND, IS NULL, BETWEEN, NOT BETWEEN, LIKE, IN, GLOBAL NOT IN, AT TIME ZONE, MOD, DIV'

it.each([
  [`${EXPRESSION}, end of query`, 'one of: an expression or the end of the statement'],
  [
    `${OPERATOR}, alias, AS, Comma, FROM, PREWHERE, WHERE, SETTINGS, end of query`,
    'one of: an operator, an alias, a comma, FROM, WHERE or the end of the statement',
  ],
  [
    `${OPERATOR}, WHEN, ELSE, END, end of query`,
    'one of: an operator, WHEN, ELSE, END or the end of the statement',
  ],
  ['ParserArrayOfJSONIdentifierDelimiter, token sequence, OpeningSquareBracket, Dot', 'one of: [ or .'],
  ['BY, end of query', 'one of: BY or the end of the statement'],
  ['identifier, end of query', 'one of: identifier or the end of the statement'],
  [
    'FROM, WHERE, GROUP BY, WITH, HAVING, ORDER BY, LIMIT, OFFSET, UNION, EXCEPT, INTERSECT, end of query',
    'one of: FROM, WHERE, GROUP BY, WITH, HAVING, ORDER BY, LIMIT, OFFSET, UNION or 3 others',
  ],
])('tells what may follow in a few words: %s (ER-4)', (list, told) => {
  expect(shortenExpected(`Syntax error: failed at x: y. Expected one of: ${list}.`)).toBe(
    `Syntax error: failed at x: y. Expected ${told}.`,
  )
})

it('leaves other messages as they are', () => {
  expect(shortenExpected('Unknown identifier x. Maybe')).toBe('Unknown identifier x. Maybe')
})
