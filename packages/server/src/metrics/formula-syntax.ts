import { invalidArgument } from '../platform/errors.ts'
import { formulaTokens, type FormulaToken } from './formula-tokens.ts'

/** Functions that work on each value. */
export const POINT_FUNCTIONS = ['abs', 'ceil', 'floor', 'round', 'sqrt', 'ln', 'log2', 'log10'] as const
/** Functions that collapse all series of one argument, or combine the values of several. */
export const COLLAPSING_FUNCTIONS = ['min', 'max', 'sum', 'avg', 'count'] as const

export type PointFunction = (typeof POINT_FUNCTIONS)[number]
export type CollapsingFunction = (typeof COLLAPSING_FUNCTIONS)[number]
export type BinaryOperator = '+' | '-' | '*' | '/' | '^'

/** A formula as a tree (FO-1). `position` counts characters from 1. */
export type Formula =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'reference'; readonly id: string; readonly position: number }
  | { readonly kind: 'negation'; readonly operand: Formula }
  | {
      readonly kind: 'operation'
      readonly operator: BinaryOperator
      readonly left: Formula
      readonly right: Formula
    }
  | { readonly kind: 'point'; readonly name: PointFunction; readonly argument: Formula }
  | { readonly kind: 'collapse'; readonly name: CollapsingFunction; readonly arguments: readonly Formula[] }

const MAX_LENGTH = 10_000
const MAX_DEPTH = 100

/**
 * Parses a formula (FO-1); throws `invalid_argument` with the position of what was not expected (FO-4).
 *
 *     sum     = product { ("+" | "-") product }
 *     product = unary { ("*" | "/") unary }
 *     unary   = "-" unary | power
 *     power   = primary [ "^" unary ]
 *     primary = number | id | name "(" sum { "," sum } ")" | "(" sum ")"
 */
export function parseFormula(expression: string): Formula {
  if (expression.length > MAX_LENGTH) {
    throw invalidArgument(`the expression is longer than ${MAX_LENGTH} characters`)
  }
  const tokens = formulaTokens(expression)
  let next = 0
  let depth = 0

  const token = (): FormulaToken => tokens[next] ?? { kind: 'end', text: '', position: expression.length + 1 }
  const isSymbol = (...texts: string[]) => token().kind === 'symbol' && texts.includes(token().text)
  const take = (): FormulaToken => {
    const taken = token()
    next += 1
    return taken
  }
  const expected = (what: string): Error => {
    const { text, position } = token()
    const found = text === '' ? 'the expression ends' : JSON.stringify(text)
    return invalidArgument(`position ${position}: expected ${what}, but ${found}`)
  }
  const expect = (symbol: string): void => {
    if (!isSymbol(symbol)) throw expected(JSON.stringify(symbol))
    next += 1
  }

  function sum(): Formula {
    depth += 1
    if (depth > MAX_DEPTH) throw invalidArgument(`position ${token().position}: nested too deeply`)
    let left = product()
    while (isSymbol('+', '-')) {
      left = { kind: 'operation', operator: take().text as BinaryOperator, left, right: product() }
    }
    depth -= 1
    return left
  }

  function product(): Formula {
    let left = unary()
    while (isSymbol('*', '/')) {
      left = { kind: 'operation', operator: take().text as BinaryOperator, left, right: unary() }
    }
    return left
  }

  function unary(): Formula {
    depth += 1
    if (depth > MAX_DEPTH) throw invalidArgument(`position ${token().position}: nested too deeply`)
    const parsed = isSymbol('-') ? negation() : power()
    depth -= 1
    return parsed
  }

  function negation(): Formula {
    next += 1
    return { kind: 'negation', operand: unary() }
  }

  function power(): Formula {
    const left = primary()
    if (!isSymbol('^')) return left
    next += 1
    return { kind: 'operation', operator: '^', left, right: unary() }
  }

  function primary(): Formula {
    if (isSymbol('(')) {
      next += 1
      const inner = sum()
      expect(')')
      return inner
    }
    if (token().kind === 'number') return { kind: 'number', value: Number(take().text) }
    if (token().kind !== 'name') throw expected('a number, an id or "("')
    const { text, position } = take()
    return isSymbol('(') ? call(text, position) : { kind: 'reference', id: text, position }
  }

  function call(name: string, position: number): Formula {
    expect('(')
    const given = [sum()]
    while (isSymbol(',')) {
      next += 1
      given.push(sum())
    }
    expect(')')
    const collapsing = COLLAPSING_FUNCTIONS.find((known) => known === name)
    if (collapsing) return { kind: 'collapse', name: collapsing, arguments: given }
    const point = POINT_FUNCTIONS.find((known) => known === name)
    if (!point) {
      const known = [...POINT_FUNCTIONS, ...COLLAPSING_FUNCTIONS].join(', ')
      throw invalidArgument(
        `position ${position}: unknown function ${JSON.stringify(name)}; known are ${known}`,
      )
    }
    const [argument, ...others] = given
    if (!argument || others.length > 0) {
      throw invalidArgument(`position ${position}: ${name} takes one argument`)
    }
    return { kind: 'point', name: point, argument }
  }

  const formula = sum()
  if (token().kind !== 'end') throw expected('an operator or the end')
  return formula
}

/** The ids that a formula refers to, each with the position of its first use. */
export function formulaReferences(formula: Formula): ReadonlyMap<string, number> {
  const references = new Map<string, number>()
  const visit = (node: Formula): void => {
    switch (node.kind) {
      case 'number':
        return
      case 'reference':
        if (!references.has(node.id)) references.set(node.id, node.position)
        return
      case 'negation':
        visit(node.operand)
        return
      case 'operation':
        visit(node.left)
        visit(node.right)
        return
      case 'point':
        visit(node.argument)
        return
      case 'collapse':
        for (const argument of node.arguments) visit(argument)
    }
  }
  visit(formula)
  return references
}
