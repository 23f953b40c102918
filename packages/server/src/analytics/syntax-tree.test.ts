import { expect, it } from 'vitest'
import { nodesOf, readSyntaxTree } from './syntax-tree.ts'

const TREE = [
  'SelectWithUnionQuery (children 1)',
  ' ExpressionList (children 2)',
  '  Function count (alias n) (children 1)',
  '   ExpressionList',
  '  Identifier odd (name) (alias x (children 2))',
]

it('reads kinds, names and children', () => {
  const nodes = [...nodesOf(readSyntaxTree(TREE))]
  expect(nodes.map(({ kind, text }) => [kind, text])).toEqual([
    ['SelectWithUnionQuery', ''],
    ['ExpressionList', ''],
    ['Function', 'count'],
    ['ExpressionList', ''],
    ['Identifier', 'odd (name)'],
  ])
})

it.each([
  ['a child too many', [...TREE, '  Identifier more']],
  ['a child too few', TREE.slice(0, -1)],
  ['a second root', [...TREE, 'SelectQuery']],
  ['a gap in depth', [...TREE.slice(0, 4), '     Identifier deep']],
  ['nothing', []],
])('concludes nothing from a tree with %s (SQ-2)', (_, lines) => {
  expect(() => readSyntaxTree(lines)).toThrow(/lost a child|misplaced node|empty syntax tree/)
})
