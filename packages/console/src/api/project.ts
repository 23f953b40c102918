import type { ChannelView, ProjectView, VersionView } from '@millrace/contract'
import { queryOptions } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { projectPath, type ProjectAddress } from './project-address.ts'
import { request } from './request.ts'
import { runSql, type Row } from './sql.ts'

/** The project in the address of the page. */
export function useProject(): ProjectAddress {
  return useParams({ from: '/signed-in/p/$owner/$project' })
}

/** The projects that the key covers. */
export const projectsQuery = queryOptions({
  queryKey: ['projects'],
  queryFn: async ({ signal }) =>
    (await request<{ projects: readonly ProjectView[] }>('/projects', { signal })).projects,
})

/** A project with its versions. */
export function projectQuery(address: ProjectAddress) {
  return queryOptions({
    queryKey: ['project', address],
    queryFn: ({ signal }) =>
      request<ProjectView & { versions: readonly VersionView[] }>(`/projects/${projectPath(address)}`, {
        signal,
      }),
    refetchInterval: 10_000,
  })
}

/** The webhook channels of a project, live. */
export function channelsQuery(address: ProjectAddress) {
  return queryOptions({
    queryKey: ['channels', address],
    queryFn: async ({ signal }) =>
      (
        await request<{ channels: readonly ChannelView[] }>(`/webhook/channels/${projectPath(address)}`, {
          signal,
        })
      ).channels,
    refetchInterval: 3000,
  })
}

/** A table of a project: an event, or a metric. */
export interface TableInfo {
  readonly name: string
  readonly kind: 'event' | 'metric' | 'entity'
  readonly columns: readonly { readonly name: string; readonly type: string }[]
}

const KINDS = { EVENT: 'event', METRICS: 'metric', ENTITY: 'entity' } as const

interface WireTables {
  readonly tables: Readonly<
    Record<
      string,
      {
        readonly name: string
        readonly tableType: keyof typeof KINDS
        readonly columns: Readonly<
          Record<string, { readonly name: string; readonly clickhouseDataType: string }>
        >
      }
    >
  >
}

/** The tables of a project with their columns. */
export function tablesQuery(address: ProjectAddress) {
  return queryOptions({
    queryKey: ['tables', address],
    queryFn: async ({ signal }): Promise<readonly TableInfo[]> => {
      const { tables } = await request<WireTables>(`/analytics/${projectPath(address)}/sql/tables`, {
        signal,
      })
      return Object.values(tables).map(({ name, tableType, columns }) => ({
        name,
        kind: KINDS[tableType],
        columns: Object.values(columns).map((column) => ({
          name: column.name,
          type: column.clickhouseDataType,
        })),
      }))
    },
    staleTime: 60_000,
  })
}

/** A name in back-ticks, as ClickHouse quotes it. */
export function quoteName(name: string): string {
  return `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``
}

const COUNTED = 40

/** The tables whose records the overview counts: no more than one statement can well go through. */
export function countedTables(tables: readonly TableInfo[]): readonly TableInfo[] {
  return tables.filter(({ kind }) => kind !== 'entity').slice(0, COUNTED)
}

/** What lately came into each table. */
export function intakeQuery(address: ProjectAddress, tables: readonly TableInfo[]) {
  return queryOptions({
    queryKey: ['intake', address, tables.map(({ name }) => name)],
    enabled: tables.length > 0,
    queryFn: async ({ signal }): Promise<readonly Row[]> => {
      const sql = countedTables(tables)
        .map(
          ({ name }) =>
            `SELECT ${quoteText(name)} AS name, chain, count() AS total, countIf(timestamp > now() - 86400) AS day, countIf(timestamp > now() - 3600) AS hour, max(block_number) AS block, max(timestamp) AS newest FROM ${quoteName(name)} GROUP BY chain`,
        )
        .join('\nUNION ALL\n')
      return sql === ''
        ? []
        : (await runSql(address, { sql, size: 10_000 }, signal, { isLive: true })).result.rows
    },
    refetchInterval: 10_000,
  })
}

/** A text in quotes, as ClickHouse reads it. */
export function quoteText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`
}
