import type { MetricValue } from '../processor/encode.ts'
import type {
  BigDecimalMessage,
  BigIntegerMessage,
  MetricMessage,
  RichStruct,
  RichValue,
} from './process-result.ts'

/** A decimal by its digits, which prints itself as libraries of decimals do. */
export interface ExactDecimal {
  toFixed(): string
}

/** The fields of a struct as attributes: bigints, decimals and Dates exact, nested values as plain ones. */
export function attributesOf(struct: RichStruct | undefined): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(struct?.fields ?? {}).map(([name, value]) => [name, valueOf(value)] as const),
  )
}

/** A rich value as a value of ours. */
export function valueOf(value: RichValue): unknown {
  if (value.bigintValue !== undefined) return bigintOf(value.bigintValue)
  if (value.bigdecimalValue !== undefined) return decimalOf(value.bigdecimalValue)
  if (value.int64Value !== undefined) return BigInt(value.int64Value)
  if (value.timestampValue !== undefined) return new Date(value.timestampValue)
  if (value.bytesValue !== undefined) return `0x${Buffer.from(bytesOf(value.bytesValue)).toString('hex')}`
  if (value.listValue !== undefined) return (value.listValue.values ?? []).map(valueOf)
  if (value.structValue !== undefined) return attributesOf(value.structValue)
  if (value.tokenValue !== undefined) {
    return { token: value.tokenValue.token, amount: decimalOf(value.tokenValue.amount ?? {}) }
  }
  return value.stringValue ?? value.floatValue ?? value.intValue ?? value.boolValue ?? null
}

/** The value of a metric; undefined when it has none. */
export function metricValueOf({ metricValue }: MetricMessage): MetricValue | undefined {
  if (metricValue?.bigInteger !== undefined) return bigintOf(metricValue.bigInteger)
  if (metricValue?.bigDecimal !== undefined) return plainDecimal(metricValue.bigDecimal)
  return metricValue?.doubleValue
}

export function bigintOf({ negative = false, data = '' }: BigIntegerMessage): bigint {
  const magnitude = BigInt(`0x${Buffer.from(bytesOf(data)).toString('hex') || '0'}`)
  return negative ? -magnitude : magnitude
}

function bytesOf(data: Uint8Array | string): Uint8Array {
  return typeof data === 'string' ? Buffer.from(data, 'base64') : data
}

function decimalOf({ value = {}, exp = 0 }: BigDecimalMessage): ExactDecimal {
  return fixed(bigintOf(value), exp)
}

/** A decimal written with or without an exponent, e.g. `1.5e-7`. */
function plainDecimal(text: string): ExactDecimal {
  const [, sign = '', whole = '0', fraction = '', exponent = '0'] =
    /^([+-]?)(\d+)(?:\.(\d*))?(?:e([+-]?\d+))?$/i.exec(text) ?? []
  const digits = BigInt(whole + fraction)
  return fixed(sign === '-' ? -digits : digits, Number(exponent) - fraction.length)
}

/** What is kept of a decimal behind the point. */
const MAX_FRACTION = 30

/** Digits × 10^exponent in plain notation; what is beyond 30 digits behind the point is cut off, as no column keeps it. */
function fixed(digits: bigint, exponent: number): ExactDecimal {
  const kept = exponent < -MAX_FRACTION ? digits / 10n ** BigInt(-MAX_FRACTION - exponent) : digits
  const scale = Math.min(MAX_FRACTION, Math.max(0, -exponent))
  const text = (kept < 0n ? -kept : kept).toString() + '0'.repeat(Math.max(0, exponent))
  const padded = text.padStart(scale + 1, '0')
  const fraction = padded.slice(padded.length - scale).replace(/0+$/, '')
  const plain = `${kept < 0n ? '-' : ''}${padded.slice(0, padded.length - scale)}${fraction === '' ? '' : `.${fraction}`}`
  return { toFixed: () => plain }
}
