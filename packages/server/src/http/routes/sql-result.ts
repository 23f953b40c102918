import type { Page } from '../../analytics/page.ts'
import { AnswerParts } from '../answer-parts.ts'

/**
 * The JSON of an object with a page as its last member, `result`. The rows are text already, and neither parsed nor made
 * a string again.
 */
export function withResult(rest: object, { columns, rows, generatedAt }: Page, cursor: string): AnswerParts {
  const before = JSON.stringify(rest).slice(0, -1)
  const names = JSON.stringify(columns.map(({ name }) => name))
  const types = JSON.stringify(Object.fromEntries(columns.map(({ name, wireType }) => [name, wireType])))
  const after = JSON.stringify({ generatedAt: new Date(generatedAt).toISOString(), cursor })
  return new AnswerParts([
    Buffer.from(
      `${before}${before === '{' ? '' : ','}"result":{"columns":${names},"columnTypes":${types},"rows":[`,
    ),
    ...(typeof rows === 'string' ? [Buffer.from(rows)] : rows.parts),
    Buffer.from(`],${after.slice(1)}}`),
  ])
}
