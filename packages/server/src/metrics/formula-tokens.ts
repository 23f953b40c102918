import { invalidArgument } from '../platform/errors.ts'

/** A word of a formula; `position` counts characters from 1. */
export interface FormulaToken {
  readonly kind: 'number' | 'name' | 'symbol' | 'end'
  readonly text: string
  readonly position: number
}

const TOKEN =
  /\s*(?:(?<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?<name>[A-Za-z_]\w*)|(?<symbol>[-+*/^(),]))/y

/** Splits a formula into words; throws `invalid_argument` with the position of a character that has no meaning (FO-4). */
export function formulaTokens(expression: string): FormulaToken[] {
  const tokens: FormulaToken[] = []
  const end = expression.trimEnd().length
  for (let index = 0; index < end;) {
    TOKEN.lastIndex = index
    const groups = TOKEN.exec(expression)?.groups
    if (!groups) {
      const position = index + (/^\s*/.exec(expression.slice(index))?.[0].length ?? 0)
      throw invalidArgument(
        `position ${position + 1}: ${JSON.stringify(expression[position])} has no meaning in a formula`,
      )
    }
    index = TOKEN.lastIndex
    const [kind, text] = Object.entries(groups).find(([, text]) => text !== undefined) ?? ['symbol', '']
    tokens.push({ kind: kind as FormulaToken['kind'], text, position: index - text.length + 1 })
  }
  return tokens
}
