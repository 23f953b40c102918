import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formulaReferences, parseFormula, type Formula } from './formula-syntax.ts'

/** The formula with every operation in parentheses. */
function print(formula: Formula): string {
  switch (formula.kind) {
    case 'number':
      return String(formula.value)
    case 'reference':
      return formula.id
    case 'negation':
      return `(-${print(formula.operand)})`
    case 'operation':
      return `(${print(formula.left)}${formula.operator}${print(formula.right)})`
    case 'point':
      return `${formula.name}(${print(formula.argument)})`
    case 'collapse':
      return `${formula.name}(${formula.arguments.map(print).join(',')})`
  }
}

describe('a formula', () => {
  it.each([
    ['b - a', '(b-a)'],
    ['a-b-c', '((a-b)-c)'],
    ['a+b*c^d', '(a+(b*(c^d)))'],
    ['a^b^c', '(a^(b^c))'],
    ['-a^2', '(-(a^2))'],
    ['2^-a', '(2^(-a))'],
    ['a*-b', '(a*(-b))'],
    ['--a', '(-(-a))'],
    ['a*0.0005*365/b', '(((a*0.0005)*365)/b)'],
    ['sum(d*h+e*i)+c', '(sum(((d*h)+(e*i)))+c)'],
    ['max(a, b, 1.5e3)', 'max(a,b,1500)'],
    ['((a))', 'a'],
    ['sum', 'sum'],
    ['.5 * _x1', '(0.5*_x1)'],
  ])('%s means %s (FO-1)', (expression, expected) => {
    expect(print(parseFormula(expression))).toBe(expected)
  })

  it.each([
    ['', 'position 1: expected a number, an id or "(", but the expression ends'],
    ['a +', 'position 4: expected a number, an id or "(", but the expression ends'],
    ['a b', 'position 3: expected an operator or the end, but "b"'],
    ['a + $', 'position 5: "$" has no meaning'],
    ['(a', 'position 3: expected ")", but the expression ends'],
    ['a + foo(b)', 'position 5: unknown function "foo"; known are abs'],
    ['abs(a, b)', 'position 1: abs takes one argument'],
    ['sum()', 'position 5: expected a number, an id or "(", but ")"'],
    ['1.2.3', 'position 4: expected an operator or the end, but ".3"'],
  ])('%j is refused with the position (FO-4)', (expression, message) => {
    expect(() => parseFormula(expression)).toThrow(message)
  })

  it('is refused when it is nested so deeply that it would exhaust the stack (FO-4)', () => {
    for (const part of ['(', '-', 'abs(', '2^']) {
      expect(() => parseFormula(`${part.repeat(2000)}a`)).toThrow(/nested too deeply/)
    }
  })

  it('names the ids it needs with their first places', () => {
    expect([...formulaReferences(parseFormula('b + sum(a*b) - max(c, 1)'))]).toEqual([
      ['b', 1],
      ['a', 9],
      ['c', 20],
    ])
  })

  it('means the same when it is printed and parsed again (FO-1)', () => {
    const { formula } = fc.letrec<{ formula: string }>((tie) => ({
      formula: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.constantFrom('a', 'b', 'c1', '7', '0.25'),
        fc
          .tuple(tie('formula'), fc.constantFrom('+', '-', '*', '/', '^'), tie('formula'))
          .map((parts) => parts.join(' ')),
        tie('formula').map((inner) => `-${inner}`),
        tie('formula').map((inner) => `(${inner})`),
        tie('formula').map((inner) => `sum(${inner})`),
      ),
    }))
    fc.assert(
      fc.property(formula, (expression) => {
        const printed = print(parseFormula(expression))
        expect(print(parseFormula(printed))).toBe(printed)
      }),
    )
  })
})
