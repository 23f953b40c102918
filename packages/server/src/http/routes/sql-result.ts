import type { Column } from '../../analytics/columns.ts'
import type { Page } from '../../analytics/page.ts'
import { AnswerParts } from '../answer-parts.ts'

/**
 * The JSON of an object with a page as its last member, `result`. The rows are text already, and neither parsed nor made
 * a string again.
 */
export function withResult(rest: object, page: Page, cursor: string): AnswerParts {
  const before = JSON.stringify(rest).slice(0, -1)
  return new AnswerParts([
    Buffer.from(`${before}${before === '{' ? '' : ','}${beforeRows(page.columns)}`),
    ...page.rows.parts,
    Buffer.from(`${behindRows(page, cursor)}}`),
  ])
}

/**
 * The same while the rows come: `result` is the first member, as the others are known only behind it. Ends without its last bytes where the rows do, so that
 * what was cut is no JSON.
 */
export async function* growingResult(
  columns: readonly Column[],
  rows: AsyncIterable<Uint8Array>,
  end: () => Promise<{ readonly rest: object; readonly page: Page; readonly cursor: string }>,
): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`{${beforeRows(columns)}`)
  yield* rows
  const { rest, page, cursor } = await end()
  yield Buffer.from(`${behindRows(page, cursor)},${JSON.stringify(rest).slice(1)}`)
}

function beforeRows(columns: readonly Column[]): string {
  const names = JSON.stringify(columns.map(({ name }) => name))
  const types = JSON.stringify(Object.fromEntries(columns.map(({ name, wireType }) => [name, wireType])))
  return `"result":{"columns":${names},"columnTypes":${types},"rows":[`
}

function behindRows({ generatedAt }: Page, cursor: string): string {
  return `],${JSON.stringify({ generatedAt: new Date(generatedAt).toISOString(), cursor }).slice(1)}`
}
