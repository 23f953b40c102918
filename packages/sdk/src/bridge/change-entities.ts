import type { Context } from '../processor/block-context.ts'
import type { EntityRequest } from './process-result.ts'
import { attributesOf, valueOf, type ExactDecimal } from './rich-value.ts'

const OPERATORS = { 0: 'set', 1: 'add', 2: 'multiply', SET: 'set', ADD: 'add', MULTIPLY: 'multiply' } as const

/** Applies the changes that a processor asked for to its entities, in order. */
export async function changeEntities(context: Context, request: EntityRequest): Promise<void> {
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
    context.store.upsert(entity, { ...row, id })
  }
  for (const [index, entity] of (removal?.entity ?? []).entries()) {
    context.store.delete(entity, removal?.id?.[index] ?? '')
  }
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
  const [left, right] = [scaled(before ?? 0), scaled(operand)]
  if (operator === 'multiply') return unscaled(left.digits * right.digits, left.scale + right.scale)
  const scale = Math.max(left.scale, right.scale)
  const raised = ({ digits, scale: own }: typeof left) => digits * 10n ** BigInt(scale - own)
  return unscaled(raised(left) + raised(right), scale)
}

function scaled(value: unknown): { readonly digits: bigint; readonly scale: number } {
  const text =
    typeof value === 'object' && value !== null
      ? (value as ExactDecimal).toFixed()
      : `${value as string | number | bigint}`
  const [whole = '0', fraction = ''] = text.split('.')
  return { digits: BigInt(whole + fraction), scale: fraction.length }
}

function unscaled(digits: bigint, scale: number): ExactDecimal {
  const text = (digits < 0n ? -digits : digits).toString().padStart(scale + 1, '0')
  const fraction = scale === 0 ? '' : `.${text.slice(-scale).slice(0, 30)}`
  const plain = `${digits < 0n ? '-' : ''}${text.slice(0, text.length - scale)}${fraction}`
  return { toFixed: () => plain }
}
