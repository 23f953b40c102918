/** A decimal of any library that prints itself in plain notation: big.js, bignumber.js, decimal.js. */
export interface DecimalLike {
  toFixed(): string
}

/** A decimal by its digits. `toFixed`, `toString` and JSON give all its digits: `new BigDecimal(value.toString())` computes with it. */
export class ExactDecimal implements DecimalLike {
  /** In plain notation. */
  readonly text: string

  /** @param text in plain notation, e.g. `-1.5` */
  constructor(text: string) {
    if (!/^-?\d+(\.\d+)?$/.test(text)) throw new TypeError(`"${text}" is no decimal in plain notation`)
    this.text = text
  }

  toFixed(): string {
    return this.text
  }

  toString(): string {
    return this.text
  }

  toJSON(): string {
    return this.text
  }
}

/** Whether a value is a decimal of some library; a number is none. */
export function isDecimalLike(value: unknown): value is DecimalLike {
  return (
    typeof value === 'object' && value !== null && 'toFixed' in value && typeof value.toFixed === 'function'
  )
}

/** `digits` × 10^−`scale`. */
export interface ScaledDecimal {
  readonly digits: bigint
  readonly scale: number
}

/** A number, bigint, decimal or its text by its digits; null for what is no number. */
export function scaledOf(value: unknown): ScaledDecimal | null {
  const text = isDecimalLike(value) ? value.toFixed() : `${value as string | number | bigint}`
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^([+-]?)(\d+)(?:\.(\d*))?(?:e([+-]?\d{1,4}))?$/i.exec(text) ?? []
  if (sign === undefined) return null
  const digits = BigInt(`${whole}${fraction}`)
  const scale = fraction.length - Number(exponent)
  const signed = sign === '-' ? -digits : digits
  return scale < 0 ? { digits: signed * 10n ** BigInt(-scale), scale: 0 } : { digits: signed, scale }
}

/** Both with the same scale, so that their digits may be added and compared. */
export function alike(left: ScaledDecimal, right: ScaledDecimal): readonly [bigint, bigint, number] {
  const scale = Math.max(left.scale, right.scale)
  const raised = ({ digits, scale: own }: ScaledDecimal) => digits * 10n ** BigInt(scale - own)
  return [raised(left), raised(right), scale]
}

/** What is kept of a decimal behind the point. */
const MAX_FRACTION = 30

/** In plain notation, as a value of a record; what is beyond 30 digits behind the point is cut off, as no column keeps it. */
export function decimalOf({ digits, scale }: ScaledDecimal): ExactDecimal {
  const kept = scale > MAX_FRACTION ? digits / 10n ** BigInt(scale - MAX_FRACTION) : digits
  const places = Math.min(scale, MAX_FRACTION)
  const padded = (kept < 0n ? -kept : kept).toString().padStart(places + 1, '0')
  const fraction = padded.slice(padded.length - places).replace(/0+$/, '')
  const whole = padded.slice(0, padded.length - places)
  return new ExactDecimal(`${kept < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`)
}
