/** A number of a JSON text that a double would round: its digits as they are written. As JSON it is them again. */
export class WrittenNumber {
  readonly digits: string

  constructor(digits: string) {
    this.digits = digits
  }

  toJSON(): unknown {
    return json.rawJSON(this.digits)
  }
}

/** What the engine has and the library's types do not name yet. */
const json = JSON as unknown as {
  rawJSON(text: string): unknown
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown
}

/** `JSON.parse` without losing a digit: a number that a double would round becomes a `WrittenNumber` (IN-6). */
export function parseExactly(text: string): unknown {
  if (!/\d{16}|\d\.\d{15}|\d[eE]/.test(text)) return JSON.parse(text)
  return json.parse(text, (_key, value, { source = '' }) =>
    typeof value === 'number' && source.length > 15 && String(value) !== source
      ? new WrittenNumber(source)
      : value,
  )
}
