import { invalidArgument, type ServiceError } from '../platform/errors.ts'
import type { AllowedFunctions } from './allowed-functions.ts'
import { nodesOf, type SyntaxNode } from './syntax-tree.ts'

/** Every kind of node that a query may consist of, besides the ones that `checkNode` looks into. */
const KINDS = new Set([
  'ArrayJoin',
  'Asterisk',
  'ColumnsExceptTransformer',
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

const SUBQUERY_OPERATORS = /^(global)?(not)?(null)?in(ignoreset)?$/i
const EXPLANATIONS = /^\\'EXPLAIN( (AST|SYNTAX|QUERY TREE|PLAN|PIPELINE|ESTIMATE))?\\'$/
const FOREIGN_DATABASE =
  /^(system|information_schema|default|_temporary_and_external_tables|millrace_p\d+_v\d+(_facts)?)\./i

/**
 * Allows a statement whose every node is known to be harmless, and nothing else (SQ-2): tables by their bare name,
 * which the engine looks up among the statement's own names and the project's views; functions that only compute.
 * Returns whether the statement explains instead of answering.
 */
export function checkSyntaxTree(
  root: SyntaxNode,
  functions: AllowedFunctions,
): { readonly isExplain: boolean } {
  checkWrapper(root)
  let isExplain = false
  for (const node of nodesOf(root)) {
    checkNode(node, functions)
    isExplain ||= node.kind === 'Function' && node.text.toLowerCase() === 'viewexplain'
  }
  return { isExplain }
}

function checkWrapper(root: SyntaxNode): void {
  let node: SyntaxNode | undefined = root
  for (const [kind, count] of WRAPPER) {
    if (node?.kind !== kind || node.children.length !== count) {
      throw refusal('the statement is not one query: its parentheses do not match')
    }
    // The last child: a SelectQuery's first one is the list of its columns.
    node = node.children.at(-1)
  }
}

function checkNode(node: SyntaxNode, functions: AllowedFunctions): void {
  switch (node.kind) {
    case 'TableExpression':
      for (const child of node.children) {
        if (child.kind === 'Function' && !functions.allowsTable(child.text)) {
          throw refusal(`the table function ${child.text} is not allowed`)
        }
      }
      return
    case 'Function':
      checkFunction(node, functions)
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
    case 'ColumnsApplyTransformer':
      throw refusal('APPLY is not allowed: name the columns and call the function')
    default:
      if (!KINDS.has(node.kind)) throw refusal(`${node.kind} is not allowed`)
  }
}

function checkFunction(node: SyntaxNode, functions: AllowedFunctions): void {
  // Of a table function only what `checkNode` lets pass gets here; ordinary calls of these names mean nothing.
  if (!functions.allows(node.text) && !functions.allowsTable(node.text)) {
    throw refusal(`the function ${node.text} is not allowed`)
  }
  if (node.text.toLowerCase() === 'viewexplain') checkExplanation(node)
  if (!SUBQUERY_OPERATORS.test(node.text)) return
  const right = node.children[0]?.children[1]
  if (right?.kind === 'Identifier' && right.text.includes('.')) {
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

function refusal(reason: string): ServiceError {
  return invalidArgument(`sqlQuery.sql: ${reason}`)
}
