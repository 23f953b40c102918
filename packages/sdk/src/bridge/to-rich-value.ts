import { plainJson } from '../processor/encode.ts'
import { isDecimalLike, scaledOf } from '../processor/exact-decimal.ts'
import type { EntityRow } from '../processor/entity-state.ts'
import type { FieldType } from './entity-schema.ts'
import type { BigIntegerMessage, RichStruct, RichValue } from './process-result.ts'

/** A state of an entity as the runtime reads it: each field as its type says, those without a value as null. */
export function richStructOf(row: EntityRow, types: ReadonlyMap<string, FieldType> | undefined): RichStruct {
  const names = new Set([...Object.keys(row), ...(types?.keys() ?? [])])
  return {
    fields: Object.fromEntries([...names].map((name) => [name, richValueOf(row[name], types?.get(name))])),
  }
}

/** A value of a stored state by the type of its field. */
export function richValueOf(value: unknown, type: FieldType | undefined): RichValue {
  if (value === undefined || value === null) return { nullValue: 0 }
  if (type?.isList === true) {
    return { listValue: { values: (value as readonly unknown[]).map((each) => scalarOf(each, type.name)) } }
  }
  return scalarOf(value, type?.name ?? guess(value))
}

function guess(value: unknown): string {
  if (typeof value === 'bigint') return 'BigInt'
  if (typeof value === 'number') return Number.isInteger(value) ? 'Int' : 'Float'
  if (typeof value === 'boolean') return 'Boolean'
  if (isDecimalLike(value)) return 'BigDecimal'
  return value instanceof Date ? 'Timestamp' : 'String'
}

function scalarOf(value: unknown, type: string): RichValue {
  if (value === null) return { nullValue: 0 }
  const text = value as string
  switch (type) {
    case 'BigInt':
      return { bigintValue: bigIntegerOf(BigInt(text)) }
    case 'BigDecimal': {
      const { digits, scale } = scaledOf(value) ?? { digits: 0n, scale: 0 }
      return { bigdecimalValue: { value: bigIntegerOf(digits), exp: -scale } }
    }
    case 'Int':
      return { intValue: Number(value) }
    case 'Int8':
      return { int64Value: BigInt(text) }
    case 'Float':
      return { floatValue: Number(value) }
    case 'Boolean':
      return { boolValue: Boolean(value) }
    case 'Timestamp':
      return { timestampValue: new Date(text) }
    case 'Bytes':
      return { bytesValue: Buffer.from(text.replace(/^0x/, ''), 'hex') }
    default:
      return { stringValue: typeof value === 'string' ? value : plainJson(value) }
  }
}

/** Sign and magnitude, the highest byte first. */
function bigIntegerOf(value: bigint): Required<BigIntegerMessage> {
  const hex = (value < 0n ? -value : value).toString(16)
  return { negative: value < 0n, data: Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex') }
}
