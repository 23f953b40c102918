/** A node of the engine's syntax tree. */
export interface SyntaxNode {
  /** E.g. `SelectQuery`, `Function`, `TableIdentifier`. */
  readonly kind: string
  /** What follows the kind: a function's or identifier's name, a literal's value. */
  readonly text: string
  /** The name that the statement gives it; null without one. */
  readonly alias: string | null
  readonly children: readonly SyntaxNode[]
}

interface GrowingNode extends SyntaxNode {
  readonly children: GrowingNode[]
  readonly expected: number
}

/**
 * Reads the lines of `EXPLAIN AST`. Throws when a node has not the number of children that its line announces: the
 * tree is then not what the engine meant, and nothing may be concluded from it.
 */
export function readSyntaxTree(lines: readonly string[]): SyntaxNode {
  const path: GrowingNode[] = []
  let root: GrowingNode | null = null
  for (const line of lines) {
    const depth = line.length - line.trimStart().length
    const node = readNode(line.slice(depth))
    const parent = path[depth - 1]
    if (depth === 0 ? root !== null : !parent) throw new Error(`misplaced node: ${line}`)
    parent?.children.push(node)
    root ??= node
    path.length = depth
    path.push(node)
  }
  if (!root) throw new Error('empty syntax tree')
  for (const node of nodesOf(root)) {
    if (node.children.length !== node.expected) throw new Error(`${node.kind} has lost a child`)
  }
  return root
}

/** A node and everything below it. */
export function* nodesOf<Node extends { readonly children: readonly Node[] }>(node: Node): Generator<Node> {
  yield node
  for (const child of node.children) yield* nodesOf(child)
}

function readNode(line: string): GrowingNode {
  const counted = /^(.*?)\s*\(children (\d+)\)$/s.exec(line)
  const head = counted?.[1] ?? line
  const alias = /^(.*?) \(alias (.*)\)$/s.exec(head)
  const named = alias?.[1] ?? head
  const gap = named.indexOf(' ')
  return {
    kind: gap < 0 ? named : named.slice(0, gap),
    text: gap < 0 ? '' : named.slice(gap + 1),
    alias: alias?.[2] ?? null,
    children: [],
    expected: Number(counted?.[2] ?? 0),
  }
}
