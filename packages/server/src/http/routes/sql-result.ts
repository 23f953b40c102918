import type { Page } from '../../analytics/page.ts'

/** A page as the `result` of an answer, in JSON text: its rows are text already, and never parsed. */
export function resultToJson({ columns, rows, generatedAt }: Page, cursor: string): string {
  const names = JSON.stringify(columns.map(({ name }) => name))
  const types = JSON.stringify(Object.fromEntries(columns.map(({ name, wireType }) => [name, wireType])))
  const end = JSON.stringify({ generatedAt: new Date(generatedAt).toISOString(), cursor })
  return `{"columns":${names},"columnTypes":${types},"rows":[${rows}],${end.slice(1)}`
}

/** The JSON text of an object with one member whose value is JSON text already. */
export function withMember(rest: object, name: string, json: string): string {
  const text = JSON.stringify(rest)
  return `${text.slice(0, -1)}${text === '{}' ? '' : ','}${JSON.stringify(name)}:${json}}`
}
