/**
 * Sums that do not depend on the order in which the engine adds: samples become integers of 256 bits, each its mantissa shifted by its exponent. A
 * window of exponents has a unit, the last bit of its smallest numbers; 2²⁸ numbers of a window fit into its sum.
 */
interface ExponentWindow {
  /** The exponent of the smallest numbers, as doubles hold it. */
  readonly first: number
  /** How many exponents there are. */
  readonly size: number
}

/**
 * Numbers of a size in `[2⁻⁶⁰, 2⁹¹)`, whose sums stay below 2²³¹ units of 2⁻¹¹². One that is smaller or larger adds 2²³²: the sum tells that there are
 * some, unless they are exactly 2²⁴ or a multiple.
 */
const NEAR: ExponentWindow = { first: 1023 - 60, size: 151 }
const BEYOND_BIT = 232
const FAR_SIZE = 175
const LAST_EXPONENT = 2046

/** All other exponents, which only a second statement adds. */
const FAR: readonly ExponentWindow[] = [
  ...farWindows(1, NEAR.first),
  ...farWindows(NEAR.first + NEAR.size, LAST_EXPONENT + 1),
]

function farWindows(first: number, end: number): ExponentWindow[] {
  const count = Math.ceil((end - first) / FAR_SIZE)
  return Array.from({ length: count }, (_, index) => ({
    first: first + index * FAR_SIZE,
    size: Math.min(FAR_SIZE, end - first - index * FAR_SIZE),
  }))
}

// Bits, products and sums in place of `and` and `if`, whose branches the engine computes one by one: that takes half as long again.
const bitsOf = (value: string) => `reinterpretAsUInt64(${value})`
const mantissaOf = (value: string) => `bitAnd(${bitsOf(value)}, ${2n ** 52n - 1n})`
const signOf = (value: string) => `(1 - 2 * (${value} < 0))`
const isCounted = (value: string) => `bitAnd(isFinite(${value}), ${value} != 0)`
const isNear = (value: string) =>
  `bitAnd(abs(${value}) >= ${sizeOf(NEAR.first)}, abs(${value}) < ${sizeOf(NEAR.first + NEAR.size)})`
const nearDigits = (value: string) =>
  `(toInt64(bitOr(${mantissaOf(value)}, ${2n ** 52n})) * ${signOf(value)})`
/** Modulo 256, as the byte above the mantissa holds it. */
const nearShift = (value: string) =>
  `toUInt8(toUInt8(bitShiftRight(${bitsOf(value)}, 52)) - ${NEAR.first % 256})`

const IS_COUNTED = isCounted('value')
const IS_FALL = 'bitAnd(isFinite(value), value < 0)'
const IS_RISE = 'bitAnd(isFinite(value), value > 0)'
const IS_NEAR = isNear('value')
const IS_FAR = `bitXor(${IS_COUNTED}, ${IS_NEAR})`
const NEAR_UNITS = `bitShiftLeft(toInt256(${nearDigits('value')} * ${IS_NEAR} + ${IS_FAR}), toUInt8(${nearShift('value')} * ${IS_NEAR} + ${BEYOND_BIT} * ${IS_FAR}))`

/** The smallest double with an exponent. */
function sizeOf(exponent: number): number {
  return 2 ** (exponent - 1023)
}

const EXPONENT = `toInt32(bitAnd(bitShiftRight(${bitsOf('value')}, 52), 2047))`
/** Doubles of the lowest exponent, 0, have no bit above their mantissa and count like those of the next one. */
const FAR_DIGITS = `toInt64(bitOr(${mantissaOf('value')}, ${2n ** 52n} * (${EXPONENT} > 0))) * ${signOf('value')}`

function farUnits({ first, size }: ExponentWindow): string {
  const exponent = `greatest(${EXPONENT}, 1)`
  const isWithin = `(${exponent} >= ${first} and ${exponent} < ${first + size})`
  return `bitShiftLeft(toInt256(${FAR_DIGITS} * ${isWithin}), toUInt8((${exponent} - ${first}) * ${isWithin}))`
}

/** A sum of samples in SQL, of type Int256: of those near, as the hours keep it, and of those in each window of the others. */
export interface FixedPointSum {
  readonly near: string
  readonly far: readonly string[]
}

function sumWhere(condition: string): FixedPointSum {
  return {
    near: `sumIf(${NEAR_UNITS}, ${condition})`,
    far: FAR.map((window) => `sumIf(${farUnits(window)}, ${condition})`),
  }
}

/** The sum of all numbers. */
export const SUM: FixedPointSum = sumWhere(IS_COUNTED)
/** The sum of those below 0, nearly always nothing, which is cheaper to keep than that of those above. */
export const FALL: FixedPointSum = sumWhere(IS_FALL)
/** The sum of those above 0. */
export const RISE: FixedPointSum = {
  near: `(${SUM.near} - ${FALL.near})`,
  far: sumWhere(IS_RISE).far,
}
/** The sum of nothing. */
export const NO_SUM: FixedPointSum = { near: 'toInt256(0)', far: FAR.map(() => 'toInt256(0)') }

/** The condition that there are numbers that are not near. */
export function hasFar({ near }: FixedPointSum): string {
  return `(${near} >= toInt256('${2n ** 231n}') or ${near} < toInt256('-${2n ** 231n}'))`
}

/** What the lowest bit of each number of a whole sum counts. */
export const UNITS: readonly number[] = [NEAR, ...FAR].map(({ first }) => 2 ** (first - 1075))

/**
 * The sum of a column that may have nulls, as a double that does not depend on the order in which the engine adds either; null where all are, infinite
 * or no number where one of the numbers is. Numbers that are not near are gathered and added by ascending size.
 */
export function sumAsDouble(column: string): string {
  const value = `ifNull(${column}, 0)`
  const near = isNear(value)
  const units = `bitShiftLeft(toInt256(${nearDigits(value)} * ${near}), toUInt8(${nearShift(value)} * ${near}))`
  return `if(count(${column}) = 0, null, toFloat64(sum(${units})) * ${2 ** (NEAR.first - 1075)} + arraySum(arraySort(groupArrayIf(${value}, ${value} != 0 and not ${near}))))`
}
