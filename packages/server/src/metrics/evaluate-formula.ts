import { aggregate, type AggregateOp } from './aggregate.ts'
import type { BinaryOperator, CollapsingFunction, Formula, PointFunction } from './formula-syntax.ts'
import type { GridSeries } from './grid-series.ts'
import { hasPoints, point } from './grid-series.ts'
import type { Pace } from './pace.ts'
import { matchSeries } from './match-series.ts'

/** A part of a formula evaluated: a number, which matches every series, or series. */
type Operand = number | readonly GridSeries[]

type Combine = (left: number, right: number) => number

const isMissing = Number.isNaN
const present = (value: number) => (isMissing(value) ? 0 : value)

/** A missing operand counts as 0 in + and −, unless both are missing, and gives no point elsewhere (FO-3). */
const OPERATORS = {
  '+': (a, b) => (isMissing(a) && isMissing(b) ? Number.NaN : present(a) + present(b)),
  '-': (a, b) => (isMissing(a) && isMissing(b) ? Number.NaN : present(a) - present(b)),
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  // 1 ** NaN and NaN ** 0 would be numbers.
  '^': (a, b) => (isMissing(a) || isMissing(b) ? Number.NaN : a ** b),
} as const satisfies Record<BinaryOperator, Combine>

const POINTWISE = {
  abs: Math.abs,
  ceil: Math.ceil,
  floor: Math.floor,
  round: Math.round,
  sqrt: Math.sqrt,
  ln: Math.log,
  log2: Math.log2,
  log10: Math.log10,
} as const satisfies Record<PointFunction, (value: number) => number>

/** Functions of several arguments combine the values that are there. */
const least: Combine = (a, b) => (isMissing(a) ? b : isMissing(b) ? a : Math.min(a, b))
const greatest: Combine = (a, b) => (isMissing(a) ? b : isMissing(b) ? a : Math.max(a, b))

const COLLAPSES = {
  min: 'MIN',
  max: 'MAX',
  sum: 'SUM',
  avg: 'AVG',
  count: 'COUNT',
} as const satisfies Record<CollapsingFunction, AggregateOp>

/**
 * Evaluates a formula over series on a grid of `length` points (FO-1 to FO-3). `resolve` gives the series of an id.
 * A formula without series is one series without labels.
 */
export async function evaluateFormula(
  formula: Formula,
  resolve: (id: string) => readonly GridSeries[],
  length: number,
  pace: Pace,
): Promise<readonly GridSeries[]> {
  const constant = (value: number): GridSeries => ({
    labels: {},
    values: new Float64Array(length).fill(point(value)),
  })
  const toSeries = (operand: Operand) => (typeof operand === 'number' ? [constant(operand)] : operand)

  async function evaluate(node: Formula): Promise<Operand> {
    switch (node.kind) {
      case 'number':
        return node.value
      case 'reference':
        return resolve(node.id)
      case 'negation':
        return map(await evaluate(node.operand), (value) => -value, pace)
      case 'operation':
        return combine(await evaluate(node.left), await evaluate(node.right), OPERATORS[node.operator])
      case 'point':
        return map(await evaluate(node.argument), POINTWISE[node.name], pace)
      case 'collapse':
        return collapse(node.name, await Promise.all(node.arguments.map(evaluate)))
    }
  }

  async function combine(left: Operand, right: Operand, operate: Combine): Promise<Operand> {
    if (typeof left === 'number') {
      return typeof right === 'number'
        ? point(operate(left, right))
        : map(right, (value) => operate(left, value), pace)
    }
    if (typeof right === 'number') return map(left, (value) => operate(value, right), pace)
    const combined: GridSeries[] = []
    for (const pair of matchSeries(left, right)) {
      combined.push({
        labels: pair.labels,
        values: Float64Array.from({ length }, (_, i) =>
          point(operate(pair.left?.values[i] ?? Number.NaN, pair.right?.values[i] ?? Number.NaN)),
        ),
      })
      await pace.turn()
    }
    return combined
  }

  async function fold(operate: Combine, of: readonly Operand[]): Promise<Operand> {
    let [folded, ...others] = of
    for (const operand of others) folded = await combine(folded ?? [], operand, operate)
    return folded ?? []
  }

  async function collapse(name: CollapsingFunction, operands: readonly Operand[]): Promise<Operand> {
    const [first, ...others] = operands
    if (first === undefined) return []
    if (others.length === 0) return aggregate(toSeries(first), { op: COLLAPSES[name], grouping: [] }, pace)
    const sum = () => fold(OPERATORS['+'], operands)
    const count = async () => {
      const present = operands.map((operand) =>
        map(operand, (value) => (isMissing(value) ? Number.NaN : 1), pace),
      )
      return fold(OPERATORS['+'], await Promise.all(present))
    }
    switch (name) {
      case 'min':
        return fold(least, operands)
      case 'max':
        return fold(greatest, operands)
      case 'sum':
        return sum()
      case 'count':
        return count()
      case 'avg':
        return combine(await sum(), await count(), OPERATORS['/'])
    }
  }

  return toSeries(await evaluate(formula)).filter(hasPoints)
}

async function map(operand: Operand, apply: (value: number) => number, pace: Pace): Promise<Operand> {
  if (typeof operand === 'number') return point(apply(operand))
  const mapped: GridSeries[] = []
  for (const { labels, values } of operand) {
    mapped.push({ labels, values: values.map((value) => point(apply(value))) })
    await pace.turn()
  }
  return mapped
}
