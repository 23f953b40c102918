import { hexOf, type MetricValue } from '../processor/encode.ts'
import { decimalOf, scaledOf, type DecimalLike } from '../processor/exact-decimal.ts'
import type {
  BigDecimalMessage,
  BigIntegerMessage,
  MetricMessage,
  RichStruct,
  RichValue,
} from './process-result.ts'

/** The fields of a struct as attributes: bigints, decimals and Dates exact, nested values as plain ones. */
export function attributesOf(struct: RichStruct | undefined): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(struct?.fields ?? {}).map(([name, value]) => [name, valueOf(value)] as const),
  )
}

/** A rich value as a value of ours. */
export function valueOf(value: RichValue): unknown {
  if (value.bigintValue !== undefined) return bigintOf(value.bigintValue)
  if (value.bigdecimalValue !== undefined) return exactDecimalOf(value.bigdecimalValue)
  if (value.int64Value !== undefined) return BigInt(value.int64Value)
  if (value.timestampValue !== undefined) return new Date(value.timestampValue)
  if (value.bytesValue !== undefined) return hexOf(bytesOf(value.bytesValue))
  if (value.listValue !== undefined) return (value.listValue.values ?? []).map(valueOf)
  if (value.structValue !== undefined) return attributesOf(value.structValue)
  if (value.tokenValue !== undefined) {
    return { token: value.tokenValue.token, amount: exactDecimalOf(value.tokenValue.amount ?? {}) }
  }
  return value.stringValue ?? value.floatValue ?? value.intValue ?? value.boolValue ?? null
}

/** The value of a metric; undefined when it has none. */
export function metricValueOf({ metricValue }: MetricMessage): MetricValue | undefined {
  if (metricValue?.bigInteger !== undefined) return bigintOf(metricValue.bigInteger)
  if (metricValue?.bigDecimal !== undefined) {
    const decimal = scaledOf(metricValue.bigDecimal)
    return decimal ? decimalOf(decimal) : undefined
  }
  return metricValue?.doubleValue
}

export function bigintOf({ negative = false, data = '' }: BigIntegerMessage): bigint {
  const magnitude = BigInt(`0x${Buffer.from(bytesOf(data)).toString('hex') || '0'}`)
  return negative ? -magnitude : magnitude
}

function bytesOf(data: Uint8Array | string): Uint8Array {
  return typeof data === 'string' ? Buffer.from(data, 'base64') : data
}

function exactDecimalOf({ value = {}, exp = 0 }: BigDecimalMessage): DecimalLike {
  const digits = bigintOf(value)
  return decimalOf(exp > 0 ? { digits: digits * 10n ** BigInt(exp), scale: 0 } : { digits, scale: -exp })
}
