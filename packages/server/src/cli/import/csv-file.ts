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
      for await (const { cells, line } of readRecords(chunks, separator)) {
        if (!header) {
          header = cells.map((cell) => cell ?? '')
          checkHeader(header)
        } else if (row++ >= fromRow) {
          const content =
            cells.length === header.length
              ? toRow(header, cells)
              : new Error(`has ${cells.length} cells; the header has ${header.length}`)
          yield { place: `line ${line}`, content }
        }
      }
    },
  }
}

function checkHeader(header: readonly string[]): void {
  for (const [index, name] of header.entries()) {
    if (name === '') throw new Error(`column ${index + 1} has no name; the first line names the columns`)
    if (header.indexOf(name) !== index) throw new Error(`two columns are called ${name}`)
  }
}

type Cell = string | null

function toRow(header: readonly string[], cells: readonly Cell[]): SourceRow {
  return Object.fromEntries(header.map((name, index) => [name, cells[index] ?? null]))
}

/** A quote that nobody closes takes the rest of the file for one cell; a cell that long is none. */
const LONGEST_CELL = 16 * 2 ** 20

/** A record and the line that it begins in. */
interface CsvRecord {
  readonly cells: readonly Cell[]
  readonly line: number
}

async function* readRecords(chunks: AsyncIterable<string>, separator: string): AsyncGenerator<CsvRecord> {
  let cells: Cell[] = []
  let text = ''
  let isQuoted = false
  let wasQuoted = false
  let mayBeEscape = false
  let line = 1
  let recordLine = 1
  let quoteLine = 1

  const endCell = () => {
    cells.push(text === '' && !wasQuoted ? null : text)
    text = ''
    wasQuoted = false
  }
  for await (const chunk of chunks) {
    for (const character of chunk) {
      if (character === '\n') line++
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
        quoteLine = line
      } else if (character === separator) endCell()
      else if (character === '\n') {
        if (text.endsWith('\r')) text = text.slice(0, -1)
        endCell()
        // A blank line is no record.
        if (cells.length > 1 || cells[0] !== null) yield { cells, line: recordLine }
        cells = []
        recordLine = line
      } else text += character
    }
    if (text.length > LONGEST_CELL) throw new Error(`the cell that begins in line ${quoteLine} does not end`)
  }
  if (isQuoted && !mayBeEscape) {
    throw new Error(`the file ends inside the quoted cell that begins in line ${quoteLine}`)
  }
  if (text !== '' || wasQuoted || cells.length > 0) {
    endCell()
    yield { cells, line: recordLine }
  }
}
