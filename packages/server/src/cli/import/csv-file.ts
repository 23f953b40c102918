import { openText } from './open-lines.ts'
import type { SourceFile, SourceRow } from './source-row.ts'

/**
 * A file of comma-separated values (RFC 4180) whose first record names the columns. Quoted cells may hold separators,
 * quotes (doubled) and line breaks. An empty cell that is not quoted is no value.
 */
export function csvFile(path: string, separator: string): SourceFile {
  const { chunks, progress } = openText(path)
  return {
    progress,
    async *rows(fromRow) {
      let header: readonly string[] | null = null
      let row = 0
      for await (const cells of readRecords(chunks, separator)) {
        if (!header) {
          header = cells.map((cell) => cell ?? '')
          continue
        }
        if (cells.length !== header.length) {
          throw new Error(`row ${row + 1} has ${cells.length} cells; the header has ${header.length}`)
        }
        if (row++ >= fromRow) yield toRow(header, cells)
      }
    },
  }
}

type Cell = string | null

function toRow(header: readonly string[], cells: readonly Cell[]): SourceRow {
  return Object.fromEntries(header.map((name, index) => [name, cells[index] ?? null]))
}

async function* readRecords(chunks: AsyncIterable<string>, separator: string): AsyncGenerator<Cell[]> {
  let cells: Cell[] = []
  let text = ''
  let isQuoted = false
  let wasQuoted = false
  let mayBeEscape = false

  const endCell = () => {
    cells.push(text === '' && !wasQuoted ? null : text)
    text = ''
    wasQuoted = false
  }
  for await (const chunk of chunks) {
    for (const character of chunk) {
      if (isQuoted) {
        if (mayBeEscape) {
          mayBeEscape = false
          if (character === '"') {
            text += '"'
            continue
          }
          isQuoted = false
        } else {
          if (character === '"') mayBeEscape = true
          else text += character
          continue
        }
      }
      if (character === '"' && text === '' && !wasQuoted) {
        isQuoted = true
        wasQuoted = true
      } else if (character === separator) endCell()
      else if (character === '\n') {
        if (text.endsWith('\r')) text = text.slice(0, -1)
        endCell()
        // A blank line is no record.
        if (cells.length > 1 || cells[0] !== null) yield cells
        cells = []
      } else text += character
    }
  }
  if (isQuoted && !mayBeEscape) throw new Error('the file ends inside a quoted cell')
  if (text !== '' || wasQuoted || cells.length > 0) {
    endCell()
    yield cells
  }
}
