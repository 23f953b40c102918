import { expect, it } from 'vitest'
import { ServiceError } from '../platform/errors.ts'
import {
  cleanMessage,
  isBrokenConnection,
  parseException,
  positionOf,
  translateError,
} from './translate-error.ts'

it('takes an error text of the engine apart, version and all', () => {
  const text =
    'Code: 47. DB::Exception: Unknown expression identifier `foo` in scope SELECT foo. (UNKNOWN_IDENTIFIER) (version 26.7.2.1 (official build))\n'
  expect(parseException(text)).toEqual({
    code: 47,
    name: 'UNKNOWN_IDENTIFIER',
    message: 'Unknown expression identifier `foo` in scope SELECT foo.',
  })
  expect(parseException('socket hang up')).toBeNull()
})

it.each([
  ['Table millrace_p12_v3.Transfer does not exist', 'Table Transfer does not exist'],
  ['Unknown table millrace_p12_v3_facts.event_Transfer', 'Unknown table event_Transfer'],
  ['Database `millrace_p1_v2` does not exist', 'version 2 has no data'],
  ['Unknown identifier __table1.amount', 'Unknown identifier amount'],
  ["Unknown table 'nope'. Maybe you meant system.one?.", "Unknown table 'nope'."],
  [
    "Unknown table 'Transferr'. Maybe you meant Transfer?.",
    "Unknown table 'Transferr'. Maybe you meant: ['Transfer'].",
  ],
  ['No FROM clause. Did you forget to add it?.', 'No FROM clause. Did you forget to add it?'],
  [
    "Cannot load time zone Nowhere: while executing function formatDateTime on arguments 'x'_String String Const(size = 0, String(size = 1)).",
    'Cannot load time zone Nowhere',
  ],
  [
    "Cannot convert string 'x' to type Int256: while executing 'FUNCTION equals(value : 0, 'x'_String :: 1) -> equals(value, 'x'_String) UInt8 : 2': While executing MergeTreeSelect(pool: ReadPool, algorithm: Thread).",
    "Cannot convert string 'x' to type Int256",
  ],
  [
    "Unknown table expression identifier 'tables'. Maybe you meant: ['INFORMATION_SCHEMA.TABLES'].",
    "Unknown table expression identifier 'tables'.",
  ],
  [
    'Maximum parse depth (1000) exceeded. Consider rising max_parser_depth parameter.',
    'Maximum parse depth (1000) exceeded.',
  ],
  [
    'Maximum depth (1000) exceeded, during evaluation of x. Consider raising max_recursive_cte_evaluation_depth setting',
    'Maximum depth (1000) exceeded, during evaluation of x',
  ],
  [
    'Expected ALL or DISTINCT in SelectWithUnion query, because setting (union_default_mode) is empty',
    'Expected ALL or DISTINCT in SelectWithUnion query',
  ],
  [
    'Query memory limit exceeded: would use 3.00 GiB, maximum: 2.00 GiB. Untracked memory across all threads: -65.78 KiB',
    'Query memory limit exceeded: would use 3.00 GiB, maximum: 2.00 GiB',
  ],
  [
    "Limit for rows (controlled by 'max_rows_to_read' setting) exceeded, max rows: 1.00 billion, current rows: 1.20 billion.",
    'the statement would read 1.20 billion rows, and may read 1.00 billion: narrow it by conditions on columns of its tables, timestamp above all',
  ],
  [
    'Limit for rows or bytes to read exceeded, max rows: 1.00 thousand, current rows: 3.00 thousand',
    'the statement would read 3.00 thousand rows, and may read 1.00 thousand: narrow it by conditions on columns of its tables, timestamp above all',
  ],
])('frees a message of internal names: %s (ER-4)', (message, cleaned) => {
  expect(cleanMessage(message)).toBe(cleaned)
})

it('finds the position of a syntax error (ER-4)', () => {
  expect(positionOf('Syntax error: failed at position 7 (1): 1.')).toEqual({ position: 7 })
  expect(positionOf('Syntax error: failed at position 12 (x) (line 2, col 3): x')).toEqual({
    position: 12,
    line: 2,
    column: 3,
  })
  expect(positionOf('Unknown identifier')).toBeNull()
})

it.each([
  [62, 'invalid_argument'],
  [47, 'invalid_argument'],
  [159, 'deadline_exceeded'],
  [241, 'resource_exhausted'],
  [158, 'resource_exhausted'],
  [394, 'cancelled'],
  [252, 'unavailable'],
])('gives engine code %i the meaning %s (ER-4)', (code, meaning) => {
  expect(translateError(new Error(`Code: ${code}. DB::Exception: It is so. (SOME_NAME)`)).code).toBe(meaning)
})

it('tells nothing of a defect of the engine, and keeps it as the cause (ER-2)', () => {
  const cause = new Error('Code: 49. DB::Exception: Invalid number of rows in Chunk. (LOGICAL_ERROR)')
  const error = translateError(cause)
  expect([error.code, error.message, error.details]).toEqual([
    'internal',
    'the fact engine failed; the log of the service has the cause',
    [],
  ])
  expect(error.cause).toBe(cause)
})

it('knows a broken connection, and says when to retry', () => {
  const error = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
  expect(isBrokenConnection(error)).toBe(true)
  expect(translateError(error)).toMatchObject({ code: 'unavailable', retryAfterSeconds: 1 })
})

it('leaves an error of the catalogue as it is', () => {
  const error = new ServiceError('not_found', 'no')
  expect(translateError(error)).toBe(error)
})

it('says that the disk is full, which passes when there is space again (ER-4)', () => {
  const error = translateError(
    new Error('Code: 243. DB::Exception: Cannot reserve 1.00 MiB, not enough space. (NOT_ENOUGH_SPACE)'),
  )
  expect(error).toMatchObject({
    code: 'unavailable',
    message: 'the disk is full: Cannot reserve 1.00 MiB, not enough space.',
    retryAfterSeconds: 1,
  })
})
