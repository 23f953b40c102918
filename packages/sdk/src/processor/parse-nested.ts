/** A text, or a number. */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
const LONG_NUMBER = /\d{16}|\d\.\d{15}/

/**
 * Parses the JSON of a list or an object. A number that a double would round becomes the text of its digits, as which bigints are written there
 * (IN-6).
 */
export function parseNested(json: string): unknown {
  const isPlain = !LONG_NUMBER.test(json)
  return JSON.parse(isPlain ? json : json.replace(TOKEN, quoteIfRounded)) as unknown
}

function quoteIfRounded(token: string): string {
  if (token.startsWith('"') || !LONG_NUMBER.test(token.replace('.', ''))) return token
  return String(Number(token)) === token ? token : `"${token}"`
}
