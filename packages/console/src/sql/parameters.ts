/** A placeholder of a statement, `{name:Type}`. */
export interface Placeholder {
  readonly name: string
  readonly type: string
}

/** The placeholders of a statement, each once; what stands in quotes or comments is text. */
export function placeholdersOf(sql: string): readonly Placeholder[] {
  const code = sql.replaceAll(/'(?:[^'\\]|\\.|'')*'|--[^\n]*|\/\*[\s\S]*?\*\//g, ' ')
  const found = new Map<string, string>()
  for (const [, name = '', type = ''] of code.matchAll(/\{\s*([A-Za-z_]\w*)\s*:\s*([^{}]+?)\s*\}/g)) {
    if (!found.has(name)) found.set(name, type)
  }
  return [...found].map(([name, type]) => ({ name, type }))
}

/** A typed value as the API takes it: numbers that keep their digits as numbers, everything else as text. */
export function parameterToWire(type: string, text: string): unknown {
  if (/^(U?Int(8|16|32)|Float(32|64))$/.test(type) && text.trim() !== '' && Number.isFinite(Number(text))) {
    return Number(text)
  }
  if (type === 'Bool') return text === 'true'
  if (/^(Array|Map|Tuple)\(/.test(type)) {
    try {
      return JSON.parse(text)
    } catch {
      return text
    }
  }
  return text
}
