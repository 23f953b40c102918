import { finite, type OracleSeries } from './oracle-functions.ts'

/** A formula as a tree; written out by {@link formulaText}, evaluated as it is, so that no parser is shared. */
export type OracleFormula =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'minus'; readonly of: OracleFormula }
  | {
      readonly kind: 'binary'
      readonly operator: '+' | '-' | '*' | '/' | '^'
      readonly left: OracleFormula
      readonly right: OracleFormula
    }
  | { readonly kind: 'call'; readonly name: string; readonly of: readonly OracleFormula[] }

const BINDS = { '+': 1, '-': 1, '*': 2, '/': 2, '^': 4 } as const
const MINUS_BINDS = 3

/** The text of a formula with no more parentheses than it needs: `^` binds tightest and to the right (FO-1). */
export function formulaText(formula: OracleFormula): string {
  switch (formula.kind) {
    case 'number':
      return String(formula.value)
    case 'id':
      return formula.id
    case 'call':
      return `${formula.name}(${formula.of.map(formulaText).join(', ')})`
    case 'minus':
      return `-${within(formula.of, MINUS_BINDS)}`
    case 'binary': {
      const { operator, left, right } = formula
      const binds = BINDS[operator]
      const isRight = operator === '^'
      // A minus may stand to the right of ^ as it is: 2^-1.
      const least = isRight ? MINUS_BINDS : binds + 1
      return `${within(left, isRight ? binds + 1 : binds)} ${operator} ${within(right, least)}`
    }
  }
}

function within(formula: OracleFormula, least: number): string {
  const binds =
    formula.kind === 'binary' ? BINDS[formula.operator] : formula.kind === 'minus' ? MINUS_BINDS : 9
  return binds >= least ? formulaText(formula) : `(${formulaText(formula)})`
}

/** A number, null where it is none (MQ-2), or series. */
type Operand = number | null | readonly OracleSeries[]
type Point = number | null

/** The series of a formula (FO-1 to FO-3); throws where labels do not match (FO-2). `note` is told every value on the way. */
export function evaluateFormulaPlainly(
  formula: OracleFormula,
  series: ReadonlyMap<string, readonly OracleSeries[]>,
  points: number,
  note: (value: Point) => void,
): OracleSeries[] {
  const constant = (value: Point): OracleSeries => ({ labels: {}, values: Array(points).fill(value) })
  const asSeries = (operand: Operand) => (isSeries(operand) ? operand : [constant(operand)])

  function evaluate(node: OracleFormula): Operand {
    const operand = evaluateNode(node)
    for (const { values } of asSeries(operand)) for (const value of values) note(value)
    return operand
  }

  function evaluateNode(node: OracleFormula): Operand {
    switch (node.kind) {
      case 'number':
        return node.value
      case 'id':
        return series.get(node.id) ?? []
      case 'minus':
        return together([evaluate(node.of)], ([x = null]) => (x === null ? null : -x))
      case 'binary':
        return together([evaluate(node.left), evaluate(node.right)], ([a = null, b = null]) =>
          operate(node.operator, a, b),
        )
      case 'call': {
        const of = node.of.map(evaluate)
        const point = POINTS[node.name]
        if (point) return together(of, ([x = null]) => (x === null ? null : finite(point(x))))
        const fold = (values: readonly Point[]) => foldPoints(node.name, values)
        if (of.length > 1) return together(of, fold)
        const all = asSeries(of[0] ?? null)
        const values = Array.from({ length: points }, (_, i) =>
          fold(all.map((each) => each.values[i] ?? null)),
        )
        return all.length === 0 ? [] : [{ labels: {}, values }]
      }
    }
  }

  return asSeries(evaluate(formula)).filter(({ values }) => values.some((value) => value !== null))
}

function isSeries(operand: Operand): operand is readonly OracleSeries[] {
  return Array.isArray(operand)
}

/** Series of which each point has the values of all operands. */
interface Tuple {
  readonly labels: OracleSeries['labels']
  at(point: number): readonly Point[]
  readonly points: number
}

/** Matches operands from left to right and makes one point of each tuple of theirs. */
function together(operands: readonly Operand[], make: (values: readonly Point[]) => Point): Operand {
  const numbers = operands.filter((operand) => !isSeries(operand))
  if (numbers.length === operands.length) return make(numbers as readonly Point[])
  let tuples: Tuple[] | null = null
  const leading: Point[] = []
  for (const [index, operand] of operands.entries()) {
    if (!isSeries(operand)) {
      if (tuples === null) leading.push(operand)
      else tuples = tuples.map((each) => ({ ...each, at: (i) => [...each.at(i), operand] }))
    } else if (tuples === null) {
      tuples = operand.map(({ labels, values }) => ({
        labels,
        points: values.length,
        at: (i) => [...leading, values[i] ?? null],
      }))
    } else tuples = matched(tuples, operand, index)
  }
  return (tuples ?? []).map(({ labels, at, points }) => ({
    labels,
    values: Array.from({ length: points }, (_, i) => make(at(i))),
  }))
}

/** Every pair that agrees on the labels of the side with fewer names, and what has no partner by itself (FO-2). */
function matched(left: readonly Tuple[], right: readonly OracleSeries[], width: number): Tuple[] {
  const namesOf = (side: readonly { labels: OracleSeries['labels'] }[]) =>
    new Set(side.flatMap(({ labels }) => Object.keys(labels)))
  const [leftNames, rightNames] = [namesOf(left), namesOf(right)]
  const isRightFewer = [...rightNames].every((name) => leftNames.has(name))
  const isLeftFewer = [...leftNames].every((name) => rightNames.has(name))
  if (!isRightFewer && !isLeftFewer) throw new Error('the labels do not match')
  const names = [...(isRightFewer ? rightNames : leftNames)]
  const agree = (a: OracleSeries['labels'], b: OracleSeries['labels']) =>
    names.every((name) => (a[name] ?? '') === (b[name] ?? ''))
  const none = Array<Point>(width).fill(null)
  const pairs: Tuple[] = []
  for (const l of left) {
    for (const r of right) {
      if (!agree(l.labels, r.labels)) continue
      const labels = isRightFewer ? l.labels : r.labels
      pairs.push({ labels, points: l.points, at: (i) => [...l.at(i), r.values[i] ?? null] })
    }
  }
  const lonelyLeft = left.filter((l) => !right.some((r) => agree(l.labels, r.labels)))
  const lonelyRight = right.filter((r) => !left.some((l) => agree(l.labels, r.labels)))
  return [
    ...pairs,
    ...lonelyLeft.map((l): Tuple => ({ ...l, at: (i) => [...l.at(i), null] })),
    ...lonelyRight.map(({ labels, values }): Tuple => ({
      labels,
      points: values.length,
      at: (i) => [...none, values[i] ?? null],
    })),
  ]
}

/** A missing operand counts as 0 in + and −, unless both are missing; elsewhere it gives no point (FO-3). */
function operate(operator: string, a: Point, b: Point): Point {
  if (operator === '+' || operator === '-') {
    if (a === null && b === null) return null
    return finite((a ?? 0) + (operator === '+' ? (b ?? 0) : -(b ?? 0)))
  }
  if (a === null || b === null) return null
  if (operator === '*') return finite(a * b)
  return finite(operator === '/' ? a / b : a ** b)
}

/** Of the values that are there. */
function foldPoints(name: string, values: readonly Point[]): Point {
  const there = values.filter((value) => value !== null)
  if (there.length === 0) return null
  const sum = there.reduce((a, b) => a + b, 0)
  const folds: Readonly<Record<string, number>> = {
    min: Math.min(...there),
    max: Math.max(...there),
    sum,
    count: there.length,
    avg: sum / there.length,
  }
  return finite(folds[name] ?? Number.NaN)
}

const POINTS: Readonly<Record<string, (x: number) => number>> = {
  abs: (x) => (x < 0 ? -x : x),
  ceil: (x) => Math.ceil(x),
  floor: (x) => Math.floor(x),
  round: (x) => Math.floor(x + 0.5),
  sqrt: (x) => x ** 0.5,
  ln: (x) => Math.log(x),
  log2: (x) => Math.log(x) / Math.LN2,
  log10: (x) => Math.log(x) / Math.LN10,
}
