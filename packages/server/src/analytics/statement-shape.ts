/** A text or number of a statement, at a place where another of its class may stand. */
interface Literal {
  readonly text: string
  readonly kind: 'integer' | 'decimal' | 'string'
}

/** A statement with its plain numbers and texts apart. */
export interface StatementShape {
  /** Equal for statements that differ in nothing but `literals`, each of the same kind. */
  readonly key: string
  /** What stands around the literals: one part more than there are of those. */
  readonly parts: readonly string[]
  readonly literals: readonly Literal[]
}

/** Texts, names in quotes, and numbers that stand alone. What is no literal of a class keeps its place in the shape. */
const TOKEN =
  /'(?:\\.|''|[^'\\])*'|`(?:\\.|``|[^`\\])*`|"(?:\\.|""|[^"\\])*"|(?<![\w.])(?:0|[1-9]\d{0,14})(?:\.\d+)?(?![\w.])/gs
/** Written by the engine as they are, so that equal statements keep equal canonical texts (CA-1). */
const INTEGER = /^[1-9]\d{0,14}$/
const DECIMAL = /^(?:0|[1-9]\d{0,8})\.\d{0,3}[1-9]$/
const STRING = /^'[ !#-&(-[\]-~]+'$/
/** Comments, here-documents, several statements, letters that only look like some. */
const UNCOMMON = /--|\/\*|[#$;\\]|[^\t\n\r -~]/
const QUERY = /^\s*(?:select|with)\b/i
const CHARACTERS_MAX = 20_000
const LITERALS_MAX = 100

/**
 * Takes a query apart; null for one that is read as a whole always. Nothing is decided by it: where this reads a statement otherwise
 * than the engine does, `learnShape` finds the engine's reading to differ.
 */
export function shapeOf(sql: string): StatementShape | null {
  if (sql.length > CHARACTERS_MAX || !QUERY.test(sql)) return null
  const parts: string[] = []
  const literals: Literal[] = []
  let from = 0
  for (const { 0: text, index } of sql.matchAll(TOKEN)) {
    const kind = kindOf(text)
    if (kind === null) continue
    parts.push(sql.slice(from, index))
    literals.push({ text, kind })
    from = index + text.length
  }
  parts.push(sql.slice(from))
  if (literals.length > LITERALS_MAX || parts.some((part) => UNCOMMON.test(part))) return null
  return { key: JSON.stringify([parts, literals.map(({ kind }) => kind)]), parts, literals }
}

/** A text with other literals between the parts. */
export function fillShape(parts: readonly string[], literals: readonly string[]): string {
  return parts.map((part, n) => part + (literals[n] ?? '')).join('')
}

function kindOf(text: string): Literal['kind'] | null {
  if (INTEGER.test(text)) return 'integer'
  if (DECIMAL.test(text)) return 'decimal'
  return STRING.test(text) ? 'string' : null
}
