/** An `AnyValue` of OTLP, as its JSON form is parsed or its protobuf form decoded. */
export interface AnyValue {
  readonly stringValue?: string
  readonly boolValue?: boolean
  readonly intValue?: bigint | number | string
  readonly doubleValue?: number | string
  readonly arrayValue?: { readonly values?: readonly AnyValue[] }
  readonly kvlistValue?: { readonly values?: readonly KeyValue[] }
  readonly bytesValue?: Uint8Array | string
}

/** An attribute of OTLP. */
export interface KeyValue {
  readonly key?: string
  readonly value?: AnyValue
}

/**
 * The value as an attribute of an event: integers exact, bytes as base64, lists and maps as JSON; null where there is none. Integers that a double
 * holds are numbers: senders without a type of integers send 1 as one and 1.5 as none, of the same attribute.
 */
export function attributeOf(value: AnyValue | undefined): unknown {
  const given = plain(value)
  return value?.intValue !== undefined && typeof given === 'string' ? { $int: given } : given
}

/** The value as a text: that of a string is itself, anything else is written as JSON. */
export function textOf(value: AnyValue | undefined): string {
  const given = plain(value)
  if (given === null) return ''
  return typeof given === 'string' ? given : JSON.stringify(given)
}

function plain(value: AnyValue | undefined): unknown {
  if (!value) return null
  if (value.stringValue !== undefined) return value.stringValue
  if (value.boolValue !== undefined) return value.boolValue
  if (value.intValue !== undefined) {
    const number = Number(value.intValue)
    return Number.isSafeInteger(number) ? number : String(value.intValue)
  }
  if (value.doubleValue !== undefined) return finiteOf(value.doubleValue)
  if (value.arrayValue) return (value.arrayValue.values ?? []).map(plain)
  if (value.kvlistValue) {
    return Object.fromEntries(
      (value.kvlistValue.values ?? []).map((each) => [each.key ?? '', plain(each.value)]),
    )
  }
  const bytes = value.bytesValue
  if (bytes === undefined) return null
  return typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('base64')
}

/** A double, which JSON may write as a text; null when it is no finite number. */
export function finiteOf(value: number | string | undefined): number | null {
  const number = value === undefined || value === '' ? Number.NaN : Number(value)
  return Number.isFinite(number) ? number : null
}

/** Microseconds of an instant in nanoseconds; undefined when there is none. */
export function microsOf(nanos: bigint | number | string | undefined): number | undefined {
  if (nanos === undefined || nanos === '' || Number(nanos) === 0) return undefined
  return Number(BigInt(nanos) / 1000n)
}
