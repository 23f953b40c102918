import type { MetricQuery } from '@millrace/contract'
import { cleanName } from '../platform/clean-name.ts'

/**
 * The query with its metric and its labels named as they are kept, so that the names a processor sent find what it sent
 * (IN-5). Of two labels with one kept name the later counts. A query of plain names is returned itself.
 */
export function withKeptNames(query: MetricQuery): MetricQuery {
  const { query: metric, labelSelector, aggregate } = query
  const names = [metric ?? '', ...Object.keys(labelSelector ?? {}), ...(aggregate?.grouping ?? [])]
  if (names.every((name) => cleanName(name) === name)) return query
  return {
    ...query,
    ...(metric === undefined ? {} : { query: cleanName(metric) }),
    ...(labelSelector && {
      labelSelector: Object.fromEntries(
        Object.entries(labelSelector).map(([name, value]) => [cleanName(name), value]),
      ),
    }),
    ...(aggregate?.grouping && { aggregate: { ...aggregate, grouping: aggregate.grouping.map(cleanName) } }),
  }
}
