import { expect, test } from 'vitest'
import { FRESH_SESSION, statementsBetween } from './engine-settings.ts'

const SANDBOX = { database: 'one', settings: { readonly: '1', max_memory_usage: '5' } }

test('readonly is set last, as nothing can be set after it (SQ-2)', () => {
  expect(statementsBetween(FRESH_SESSION, SANDBOX)).toEqual([
    'use `one`',
    "set max_memory_usage = '5'",
    "set readonly = '1'",
  ])
})

test('a session that has all of it already needs no statement', () => {
  expect(statementsBetween(SANDBOX, SANDBOX)).toEqual([])
  expect(statementsBetween(SANDBOX, { ...SANDBOX, database: 'two' })).toEqual(['use `two`'])
})

test('a session with another readonly is told the one that is wanted', () => {
  const lenient = { ...SANDBOX, settings: { ...SANDBOX.settings, readonly: '2' } }
  expect(statementsBetween(lenient, SANDBOX)).toEqual(["set readonly = '1'"])
})
