import { Type } from 'typebox'
import { expect, it } from 'vitest'
import { createReader } from './validate.ts'

const read = createReader(
  Type.Object({
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 })),
    version: Type.Optional(Type.Integer({ minimum: 0 })),
    share: Type.Optional(Type.Number({ maximum: 1 })),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 3 })),
    ids: Type.Optional(
      Type.Array(Type.String({ pattern: '^[0-9]+$', 'x-rule': 'a decimal number' }), {
        minItems: 1,
        maxItems: 2,
      }),
    ),
    plain: Type.Optional(Type.String({ pattern: '^x$' })),
    either: Type.Optional(
      Type.Union([Type.Object({ 'a/b': Type.Integer({ minimum: 3, maximum: 4 }) }), Type.String()]),
    ),
  }),
  'body',
)

it.each([
  [{ limit: 0 }, 'limit must be from 1 to 10'],
  [{ limit: 11 }, 'limit must be from 1 to 10'],
  [{ version: -1 }, 'version must be 0 or more'],
  [{ share: 1.5 }, 'share must be at most 1'],
  [{ name: '' }, 'name must not be empty'],
  [{ name: 'long' }, 'name must have at most 3 characters'],
  [{ ids: [] }, 'ids must not be empty'],
  [{ ids: ['1', '2', '3'] }, 'ids must have at most 2 elements'],
  [{ ids: ['1', 'x'] }, 'ids[1] must be a decimal number'],
  [{ plain: 'y' }, 'plain must match pattern "^x$"'],
  [{ either: { 'a/b': 1 } }, /must be from 3 to 4$/],
])('tells of %j both bounds, and patterns in words (ER-2)', (value, message) => {
  expect(() => read(value)).toThrow(message)
})
