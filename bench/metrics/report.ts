import type { Comparison } from './compare.ts'

/** The comparisons as a Markdown table: medians and 99th percentiles in milliseconds, and how many times as fast as a peer ours is. */
export function formatComparisons(comparisons: readonly Comparison[]): string {
  const names = [...new Set(comparisons.flatMap(({ systems }) => Object.keys(systems)))]
  const peers = names.filter((name) => name !== 'Millrace')
  const header = [
    'Query',
    'clients',
    'memory',
    ...names.flatMap((name) => [`${name} median`, 'p99']),
    ...peers.map((name) => `× ${name}`),
  ]
  const rows = comparisons.map((comparison) => {
    const { query, clients, memory, systems } = comparison
    const own = systems['Millrace']?.medianMs
    return [
      query,
      String(clients),
      memory,
      ...names.flatMap((name) => [ms(systems[name]?.medianMs), ms(systems[name]?.p99Ms)]),
      ...peers.map((name) => {
        const other = systems[name]?.medianMs ?? peerMedian(comparisons, comparison, name)
        return own === undefined || other === undefined ? '' : (other / own).toFixed(1)
      }),
    ]
  })
  return [header, header.map((_, column) => (column === 0 ? '---' : '--:')), ...rows]
    .map((row) => `| ${row.join(' | ')} |`)
    .join('\n')
}

/** What a peer took when it was asked beside the warm memory: peers keep no such memory apart. */
function peerMedian(
  all: readonly Comparison[],
  { query, clients }: Comparison,
  name: string,
): number | undefined {
  return all.find((each) => each.query === query && each.clients === clients && each.memory === 'warm')
    ?.systems[name]?.medianMs
}

function ms(value: number | undefined): string {
  return value === undefined ? '' : value.toFixed(1)
}
