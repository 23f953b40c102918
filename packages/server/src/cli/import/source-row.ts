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

/** A row where it stands in its file. */
export interface PlacedRow {
  /** Of the file: a line where it has lines, else the number of the row; both from 1. */
  readonly place: string
  /** The columns, the line of an NDJSON file as it is written, or why the row cannot be read. */
  readonly content: SourceRow | string | Error
}

/** A file that is read from some row on. */
export interface SourceFile {
  rows(fromRow: number): AsyncIterable<PlacedRow>
  /** How much of the file has been read, from 0 to 1. */
  progress(): number
}
