import { SUBQUERY_OPERATORS } from './check-syntax-tree.ts'
import type { StatementShape } from './statement-shape.ts'
import type { SyntaxNode } from './syntax-tree.ts'

/** A literal that stands nowhere else, by which the engine's reading of the others is known. */
interface Mark {
  readonly text: string
  readonly kind: StatementShape['literals'][number]['kind']
  /** Digits of it that are found wherever it went. */
  readonly digits: string
}

/** Where the literals of a shape stand in the text that the engine writes: which of them comes behind each part but the last. */
export interface CanonicalShape {
  readonly parts: readonly string[]
  readonly order: readonly number[]
}

/** Functions to which the text beside a column is a value, and never a name of anything. */
const COMPARISONS = new Set([
  'equals',
  'notEquals',
  'less',
  'lessOrEquals',
  'greater',
  'greaterOrEquals',
  'like',
  'notLike',
  'ilike',
  'notILike',
  'startsWith',
  'endsWith',
  'toDate',
  'toDateTime',
  'toDateTime64',
  'parseDateTimeBestEffort',
  'parseDateTime64BestEffort',
])
const MEMBERSHIPS = /^(not)?in$/i

/** One for each literal of a shape. */
export function marksOf({ literals }: StatementShape): readonly Mark[] {
  return literals.map(({ kind }, n) => {
    if (kind === 'decimal') return { kind, text: `${910_000_000 + n}.5`, digits: String(910_000_000 + n) }
    const digits = String(920_000_000_000_000 + n)
    return { kind, text: kind === 'integer' ? digits : `'m${digits}'`, digits }
  })
}

/**
 * Decides, on the engine's reading of a statement with marks in place of its literals, whether what is admitted of it holds for any literals of these
 * kinds; null when that cannot be told. Each mark must be a plain literal there, so that no other could change the tree. And no table may stand where a
 * constant decides whether it is read at all, so that the tables of the resolved form are the same as well: queries only stand where tables do.
 */
export function learnShape(
  root: SyntaxNode,
  canonical: string,
  marks: readonly Mark[],
): CanonicalShape | null {
  const places = [...placesOf(root)]
  if (!places.every(isShareable)) return null
  const isEveryPlain = marks.every((mark) => {
    const [only, ...others] = places.filter(({ node }) => holds(node, mark))
    return only !== undefined && others.length === 0 && isPlain(only, mark)
  })
  return isEveryPlain ? placeMarks(canonical, marks) : null
}

/** A node and what it is part of. */
interface Place {
  readonly node: SyntaxNode
  readonly parent: SyntaxNode | null
  /** The function that it is an argument of, directly or as part of another argument. */
  readonly caller: SyntaxNode | null
  /** Is it itself an argument of `caller`? */
  readonly isArgument: boolean
}

function* placesOf(node: SyntaxNode, parent: Place | null = null): Generator<Place> {
  const calling = parent?.node.kind === 'Function' ? parent.node : (parent?.caller ?? null)
  const isArgument = parent?.node.kind === 'ExpressionList' && parent.parent?.kind === 'Function'
  const place = { node, parent: parent?.node ?? null, caller: calling, isArgument }
  yield place
  for (const child of node.children) yield* placesOf(child, place)
}

function isShareable({ node, parent, caller }: Place): boolean {
  switch (node.kind) {
    case 'SampleRatio':
    case 'ColumnsApplyTransformer':
      return false
    case 'Subquery':
      return caller === null && (parent?.kind === 'TableExpression' || parent?.kind === 'WithElement')
    case 'SelectQuery':
    case 'TableExpression':
      return caller === null
    case 'Function':
      return parent?.kind !== 'TableExpression' && !isTableTest(node)
    default:
      return true
  }
}

/** May a name on the right of IN be that of a table? */
function isTableTest({ text, children: [list] }: SyntaxNode): boolean {
  return SUBQUERY_OPERATORS.test(text) && list?.children[1]?.kind === 'Identifier'
}

function holds({ text, alias }: SyntaxNode, { digits }: Mark): boolean {
  return text.includes(digits) || (alias ?? '').includes(digits)
}

function isPlain({ node, caller, isArgument }: Place, { kind, digits, text }: Mark): boolean {
  if (node.kind !== 'Literal' || node.text.split(digits).length !== 2) return false
  if (kind === 'integer') return new RegExp(`(?:UInt64_|Int64_-)${digits}(?![\\w.])`).test(node.text)
  if (kind === 'decimal') return new RegExp(`Float64_-?${digits}\\.5(?![\\w.])`).test(node.text)
  if (caller === null || !isArgument) return false
  const quoted = `\\'${text.slice(1, -1)}\\'`
  if (MEMBERSHIPS.test(caller.text)) return /^(?:Tuple|Array)_/.test(node.text) && node.text.includes(quoted)
  return COMPARISONS.has(caller.text) && node.text === quoted
}

function placeMarks(canonical: string, marks: readonly Mark[]): CanonicalShape | null {
  const places = marks
    .map(({ text }, n) => ({ n, text, at: canonical.indexOf(text), last: canonical.lastIndexOf(text) }))
    .toSorted((a, b) => a.at - b.at)
  const parts: string[] = []
  let from = 0
  for (const { at, last, text } of places) {
    if (at < from || at !== last) return null
    parts.push(canonical.slice(from, at))
    from = at + text.length
  }
  return { parts: [...parts, canonical.slice(from)], order: places.map(({ n }) => n) }
}
