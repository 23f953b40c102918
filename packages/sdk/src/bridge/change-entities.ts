import type { Context } from '../processor/block-context.ts'
import type { EntityRequest } from './entity-messages.ts'
import type { EntitySchema, FieldType } from './entity-schema.ts'
import { storedForm } from '../processor/entity-state.ts'
import { richValueOf } from './to-rich-value.ts'
import { alike, decimalOf, scaledOf } from '../processor/exact-decimal.ts'
import { attributesOf, valueOf } from './rich-value.ts'

const OPERATORS = { 0: 'set', 1: 'add', 2: 'multiply', SET: 'set', ADD: 'add', MULTIPLY: 'multiply' } as const

/** Applies the changes that a processor asked for to its entities, in order. */
export async function changeEntities(
  context: Context,
  request: EntityRequest,
  schema: EntitySchema,
): Promise<void> {
  const { upsert, update, delete: removal } = request
  for (const [index, entity] of (upsert?.entity ?? []).entries()) {
    const rich = upsert?.entityData?.[index]
    const attributes = rich ? attributesOf(rich) : (upsert?.data?.[index] ?? {})
    context.store.upsert(entity, { ...attributes, id: upsert?.id?.[index] ?? '' })
  }
  for (const [index, entity] of (update?.entity ?? []).entries()) {
    const id = update?.id?.[index] ?? ''
    const row: Record<string, unknown> = { ...(await context.store.get(entity, id)) }
    for (const [field, { value = {}, op = 0 }] of Object.entries(update?.entityData?.[index]?.fields ?? {})) {
      row[field] = combine(OPERATORS[op as keyof typeof OPERATORS], row[field], valueOf(value))
    }
    context.store.upsert(entity, { ...typedRow(row, schema.get(entity)), id })
  }
  for (const [index, entity] of (removal?.entity ?? []).entries()) {
    context.store.delete(entity, removal?.id?.[index] ?? '')
  }
}

/** What was counted may be of another kind of number, and elements of lists are texts where they were bigints: fields keep their types. */
function typedRow(
  row: Readonly<Record<string, unknown>>,
  types: ReadonlyMap<string, FieldType> | undefined,
): Record<string, unknown> {
  const stored: Readonly<Record<string, unknown>> = storedForm('', row)
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => {
      const type = types?.get(name)
      return [name, type ? valueOf(richValueOf(stored[name], type)) : value]
    }),
  )
}

/** Numbers with numbers, bigints with bigints; anything with a decimal goes by its digits. */
function combine(operator: 'set' | 'add' | 'multiply', before: unknown, operand: unknown): unknown {
  if (operator === 'set') return operand
  if (typeof operand === 'bigint' && (before === undefined || typeof before === 'bigint')) {
    const own = before ?? 0n
    return operator === 'add' ? own + operand : own * operand
  }
  if (typeof operand === 'number' && (before === undefined || typeof before === 'number')) {
    const own = before ?? 0
    return operator === 'add' ? own + operand : own * operand
  }
  const [left, right] = [scaledOf(before ?? 0), scaledOf(operand)]
  if (!left || !right) throw new TypeError(`${String(before)} and ${String(operand)} are not both numbers`)
  if (operator === 'multiply') {
    return decimalOf({ digits: left.digits * right.digits, scale: left.scale + right.scale })
  }
  const [leftDigits, rightDigits, scale] = alike(left, right)
  return decimalOf({ digits: leftDigits + rightDigits, scale })
}
