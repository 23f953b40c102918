import { MetricListAnswer, MetricListQuery } from '@millrace/contract'
import type { MetricCatalog, MetricDescription } from '../../metrics/metric-catalog.ts'
import type { Project } from '../../projects/project.ts'
import { defineRoute, type AnyRoute } from '../route.ts'

/** `GET /metrics?projectId={owner}/{project}` (MQ-10). */
export function metricListRoute(catalog: MetricCatalog): AnyRoute {
  return defineRoute({
    method: 'GET',
    path: '/metrics',
    projectIn: 'query',
    permission: 'read',
    isPublicReadable: true,
    summary: 'The metrics of a project with their types, units, labels and last samples.',
    tag: 'metrics',
    query: MetricListQuery,
    answer: MetricListAnswer,
    handle: async ({ query, project, signal }): Promise<MetricListAnswer> => {
      const version = query.version || (project.activeVersion ?? 0)
      const found = await catalog.list({ projectId: project.id, version, name: query.name || null }, signal)
      return { metrics: found.map((metric) => metricToWire(metric, project)) }
    },
  })
}

function metricToWire(
  { name, type, unit, help, labels, seriesCount, lastSeenAt }: MetricDescription,
  { owner, name: projectName }: Project,
): MetricListAnswer['metrics'][number] {
  const valuesOf = (label: string) => [...(labels.get(label) ?? [])]
  return {
    name,
    displayName: name,
    projectId: `${owner}/${projectName}`,
    contractName: valuesOf('contract_name'),
    contractAddress: valuesOf('contract_address'),
    chainId: valuesOf('chain'),
    labels: Object.fromEntries(Array.from(labels, ([label, values]) => [label, { values: [...values] }])),
    metadata: {
      type,
      unit,
      help,
      ...(lastSeenAt === null ? {} : { lastSeen: new Date(lastSeenAt).toISOString() }),
    },
    seriesCount,
  }
}
