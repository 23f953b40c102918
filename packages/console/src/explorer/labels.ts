import { queryOptions } from '@tanstack/react-query'
import { quoteName } from '../api/project.ts'
import { type ProjectAddress } from '../api/project-address.ts'
import { runSql } from '../api/sql.ts'

/** A label of a metric with the values it has, the first thousand of them. */
export interface LabelInfo {
  readonly name: string
  readonly values: readonly string[]
}

/** The labels of a metric. */
export function labelsQuery(address: ProjectAddress, metric: string) {
  return queryOptions({
    queryKey: ['labels', address, metric],
    enabled: metric !== '',
    queryFn: async ({ signal }): Promise<readonly LabelInfo[]> => {
      const sql = `SELECT label, arraySort(groupUniqArray(1000)(labels[label])) AS label_values FROM (SELECT labels, arrayJoin(mapKeys(labels)) AS label FROM ${quoteName(metric)}) GROUP BY label ORDER BY label`
      const { result } = await runSql(address, { sql, size: 1000 }, signal)
      return result.rows.map((row) => ({
        name: String(row['label']),
        values: (row['label_values'] as readonly unknown[]).map(String),
      }))
    },
    staleTime: 300_000,
  })
}
