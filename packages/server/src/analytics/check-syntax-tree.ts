import { invalidArgument, type ServiceError } from '../platform/errors.ts'
import type { AllowedFunctions } from './allowed-functions.ts'
import { maybeMeant } from './nearest-names.ts'
import { nodesOf, type SyntaxNode } from './syntax-tree.ts'

/** Every kind of node that a query may consist of, besides the ones that `checkNode` looks into. */
const KINDS = new Set([
  'ArrayJoin',
  'Asterisk',
  'ColumnsExceptTransformer',
  // Names its function only in the canonical text (`checkApplied`).
  'ColumnsApplyTransformer',
  'ColumnsListMatcher',
  'ColumnsRegexpMatcher',
  'ColumnsReplaceTransformer',
  'ColumnsReplaceTransformer::Replacement',
  'ColumnsTransformerList',
  'ExpressionList',
  'InterpolateElement',
  'Literal',
  'OrderByElement',
  'QualifiedAsterisk',
  'QualifiedColumnsListMatcher',
  'QualifiedColumnsRegexpMatcher',
  'SampleRatio',
  'SelectIntersectExceptQuery',
  'SelectQuery',
  'SelectWithUnionQuery',
  'Subquery',
  'TableJoin',
  'TablesInSelectQuery',
  'TablesInSelectQueryElement',
  'WindowDefinition',
  'WindowListElement',
  'WithElement',
])

/** What else was learned of an allowed statement. */
interface CheckedTree {
  /** It explains instead of answering. */
  readonly isExplain: boolean
  /** Its rows may name the engine's databases. */
  readonly isCleaned: boolean
  /** The engine's strictest mode refuses it though it only reads. */
  readonly isLenient: boolean
  /** Functions that it defines itself; the engine must have resolved all calls of them. */
  readonly lambdaNames: readonly string[]
}

/** `currentDatabase` and its aliases. */
const NAMING = ['currentdatabase', 'current_database', 'database', 'schema']
/** Table functions that the engine does not take for reading. */
const LENIENT = ['zeros', 'zeros_mt']

interface OwnNames {
  readonly tables: ReadonlySet<string>
  readonly lambdas: ReadonlySet<string>
}

/** Texts, and names in quotes. */
const QUOTED = /'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`|"(?:\\.|[^"\\])*"/g

/** The path from the root to the caller's statement, with the number of children each node must have. */
const WRAPPER = [
  ['SelectWithUnionQuery', 1],
  ['ExpressionList', 1],
  ['SelectQuery', 2],
  ['TablesInSelectQuery', 1],
  ['TablesInSelectQueryElement', 1],
  ['TableExpression', 1],
  ['Subquery', 1],
] as const

/** Functions that may have the name of a table on their right. */
export const SUBQUERY_OPERATORS = /^(global)?(not)?(null)?in(ignoreset)?$/i
const EXPLANATIONS = /^\\'EXPLAIN( (AST|SYNTAX|QUERY TREE|PLAN|PIPELINE|ESTIMATE))?\\'$/
const FOREIGN_DATABASE =
  /^(system|information_schema|default|_temporary_and_external_tables|millrace_p\d+_v\d+(_facts)?)\./i

/**
 * Allows a statement whose every node is known to be harmless, and nothing else (SQ-2): tables by their bare name,
 * which the engine looks up among the statement's own names and the project's views; functions that only compute.
 */
export function checkSyntaxTree(root: SyntaxNode, functions: AllowedFunctions): CheckedTree {
  checkWrapper(root)
  const names = readNames(root, functions)
  const calls = new Set<string>()
  for (const node of nodesOf(root)) {
    checkNode(node, functions, names)
    if (node.kind === 'Function') calls.add(node.text.toLowerCase())
  }
  return {
    isExplain: calls.has('viewexplain'),
    isCleaned: calls.has('viewexplain') || NAMING.some((name) => calls.has(name)),
    isLenient: calls.has('viewexplain') || LENIENT.some((name) => calls.has(name)),
    lambdaNames: [...names.lambdas],
  }
}

/**
 * Checks the functions of `APPLY`, which the tree does not show. In the canonical text the word is always written like this and a name in quotes
 * keeps them, so every such word outside of texts must be followed by the bare name of an allowed function.
 */
export function checkApplied(canonical: string, functions: AllowedFunctions): void {
  const bare = bareText(canonical)
  for (const { index } of bare.matchAll(/\bAPPLY\b/g)) {
    const [, name, next] = /^APPLY (\w+)\s*(->)?/.exec(bare.slice(index)) ?? []
    if (name === undefined || next !== undefined) {
      throw refusal('APPLY takes the name of a function; for anything else name the columns')
    }
    if (!functions.allows(name)) throw refusedFunction(name, functions)
  }
}

/** Does it ask for totals, which stand beside the rows and not among them? Only the canonical text shows it. */
export function asksForTotals(canonical: string): boolean {
  return /\bWITH TOTALS\b/.test(bareText(canonical))
}

/** A canonical text without its texts and quoted names. */
function bareText(canonical: string): string {
  return canonical.replaceAll(QUOTED, (token) => (token.startsWith("'") ? "''" : '``'))
}

/** The statement's own names: they decide what a dot and an unknown function mean. */
function readNames(root: SyntaxNode, functions: AllowedFunctions): OwnNames {
  const tables = new Set<string>()
  const lambdas = new Set<string>()
  for (const { kind, text, alias } of nodesOf(root)) {
    if (kind === 'TableIdentifier') tables.add(alias ?? text)
    else if (alias !== null && (kind === 'Subquery' || kind === 'Function')) tables.add(alias)
    // One that hides a function of the engine would be called where the lambda is out of reach.
    if (
      kind === 'Function' &&
      text === 'lambda' &&
      alias !== null &&
      /^\w+$/.test(alias) &&
      !functions.isKnown(alias)
    ) {
      lambdas.add(alias)
    }
  }
  return { tables, lambdas }
}

function checkWrapper(root: SyntaxNode): void {
  let node: SyntaxNode | undefined = root
  for (const [kind, count] of WRAPPER) {
    // An alias stands behind a closing parenthesis that is not the wrapper's.
    if (node?.kind !== kind || node.children.length !== count || node.alias !== null) {
      throw refusal('the statement is not one query: its parentheses do not match')
    }
    // The last child: a SelectQuery's first one is the list of its columns.
    node = node.children.at(-1)
  }
}

function checkNode(node: SyntaxNode, functions: AllowedFunctions, names: OwnNames): void {
  switch (node.kind) {
    case 'TableExpression':
      for (const child of node.children) {
        if (child.kind === 'Function' && !functions.allowsTable(child.text)) {
          throw refusal(`the table function ${child.text} is not allowed`)
        }
      }
      return
    case 'Function':
      checkFunction(node, functions, names)
      return
    case 'TableIdentifier':
      if (node.text.includes('.')) {
        throw refusal(
          `the table ${node.text} is not allowed: name a table of the project, without a database`,
        )
      }
      return
    case 'Identifier':
      if (FOREIGN_DATABASE.test(node.text)) throw refusal(`the name ${node.text} is not allowed`)
      return
    case 'Set':
      throw refusal('SETTINGS is not allowed')
    default:
      if (!KINDS.has(node.kind)) throw refusal(`${node.kind} is not allowed`)
  }
}

function checkFunction(node: SyntaxNode, functions: AllowedFunctions, names: OwnNames): void {
  // Of a table function only what `checkNode` lets pass gets here; ordinary calls of these names mean nothing.
  const isOwn = names.lambdas.has(node.text)
  if (!isOwn && !functions.allows(node.text) && !functions.allowsTable(node.text)) {
    throw refusedFunction(node.text, functions)
  }
  if (node.text.toLowerCase() === 'viewexplain') checkExplanation(node)
  if (!SUBQUERY_OPERATORS.test(node.text)) return
  const right = node.children[0]?.children[1]
  const qualifier = right?.text.slice(0, right.text.lastIndexOf('.')) ?? ''
  if (right?.kind === 'Identifier' && right.text.includes('.') && !names.tables.has(qualifier)) {
    throw refusal(`${right.text} on the right of IN is not allowed: name a table of the project, or use =`)
  }
}

/** The kind of an EXPLAIN is a text to the engine: the first argument of the function that it has become. */
function checkExplanation(node: SyntaxNode): void {
  const kind = node.children[0]?.children[0]
  if (kind?.kind !== 'Literal' || !EXPLANATIONS.test(kind.text)) {
    throw refusal(`${kind?.text ?? 'this EXPLAIN'} is not allowed`)
  }
}

function refusedFunction(name: string, functions: AllowedFunctions): ServiceError {
  const hint = functions.isKnown(name) ? [] : functions.nearest(name)
  const reason = functions.isKnown(name) ? 'is not allowed' : 'is not known'
  return refusal(`the function ${name} ${reason}${maybeMeant(hint)}`)
}

function refusal(reason: string): ServiceError {
  return invalidArgument(`sqlQuery.sql: ${reason}`)
}
