import type { MetricType } from './series-source.ts'

/** What is known of one metric of a processor version. */
export interface MetricDescription {
  readonly name: string
  readonly type: MetricType
  /** As its sender says; empty where it says nothing. */
  readonly unit: string
  readonly help: string
  /** The values of each label in order, at most `MAX_LABEL_VALUES` of each; reserved labels included. */
  readonly labels: ReadonlyMap<string, readonly string[]>
  readonly seriesCount: number
  /** The time of its last sample in epoch milliseconds; null when it has none. */
  readonly lastSeenAt: number | null
}

/** Labels can have a value for every block; a list for people shows the first of them. */
export const MAX_LABEL_VALUES = 1000

/** What to list. */
export interface CatalogQuery {
  readonly projectId: number
  readonly version: number
  /** One metric by its name; null is all. */
  readonly name: string | null
}

/** The metrics that a processor version has (MQ-10). An edge implements it. */
export interface MetricCatalog {
  /** In the order of their names. */
  list(query: CatalogQuery, signal: AbortSignal): Promise<readonly MetricDescription[]>
}
