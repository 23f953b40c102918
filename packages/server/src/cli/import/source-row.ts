/** A time with microseconds, as a file holds it. */
export interface FileTime {
  readonly micros: bigint
}

/** A decimal of a file, written out. */
export interface FileDecimal {
  readonly digits: string
}

/** A row of a file by column. Texts of CSV are still texts; a column's type is decided when records are made. */
export type SourceRow = Readonly<Record<string, unknown>>

/** A file that is read from some row on. */
export interface SourceFile {
  /** Rows, or for NDJSON the lines as they are written. */
  rows(fromRow: number): AsyncIterable<SourceRow | string>
  /** How much of the file has been read, from 0 to 1. */
  progress(): number
}
