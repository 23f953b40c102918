import type { Batch, MetricMetadata } from '../ingest/batch.ts'
import type { IngestLimits } from '../ingest/ingest-limits.ts'
import type { FactEngine } from './fact-engine.ts'
import { DURABLE, quoteIdentifier } from './layout.ts'
import type { VersionSchema } from './fact-store-schema.ts'

const TABLE = 'metric_metadata'

/** What was said last of a metric. */
export interface MetadataRow extends MetricMetadata {
  readonly metric: string
}

/** Makes the table of what senders say of metrics. The engine's own clock tells which of several was last. */
export function createMetadataTable(facts: string): string {
  return `create table if not exists ${quoteIdentifier(facts)}.${TABLE} (
    metric String,
    unit String,
    help String,
    said_at DateTime64(6, 'UTC') default now64(6)
  ) engine = ReplacingMergeTree(said_at) order by metric settings ${DURABLE}`
}

/** What was said last of the metrics that a condition on `metric` selects. */
export function selectMetadata(condition: string): string {
  return `select metric, unit, help from ${TABLE} final where ${condition}`
}

/** What was said last of all metrics of a version. */
export async function readMetadata(engine: FactEngine, facts: string): Promise<Map<string, MetricMetadata>> {
  const rows = await engine.rows<MetadataRow>(selectMetadata('1'), { database: facts })
  return new Map(rows.map(({ metric, unit, help }) => [metric, { unit, help }]))
}

/** Was all that a batch says of metrics said before? */
export function hasOnlyKnownMetadata({ metadata }: VersionSchema, batch: Batch): boolean {
  for (const [metric, said] of batch.metadata) if (!isSame(metadata.get(metric), said)) return false
  return true
}

/** Stores what a batch says of metrics, as far as it is new. Returns warnings. */
export async function storeMetadata(
  engine: FactEngine,
  { databases, metadata }: VersionSchema,
  batch: Batch,
  { maxMetrics }: IngestLimits,
): Promise<readonly string[]> {
  const changed = [...batch.metadata].filter(([metric, said]) => !isSame(metadata.get(metric), said))
  const added = changed.filter(([metric]) => !metadata.has(metric))
  const beyond = new Set(added.slice(Math.max(0, maxMetrics - metadata.size)))
  const stored = changed.filter((each) => !beyond.has(each))
  if (stored.length > 0) {
    const lines = stored.map(([metric, { unit, help }]) => JSON.stringify([metric, unit, help]))
    await engine.insert({
      database: databases.facts,
      table: TABLE,
      columns: ['metric', 'unit', 'help'],
      format: 'JSONCompactEachRow',
      rows: Buffer.from(lines.join('\n')),
    })
    for (const [metric, said] of stored) metadata.set(metric, said)
  }
  if (beyond.size === 0) return []
  return [
    `unit and help of ${beyond.size} metrics are left out, as they are kept of ${maxMetrics} names at most`,
  ]
}

function isSame(known: MetricMetadata | undefined, { unit, help }: MetricMetadata): boolean {
  return known?.unit === unit && known.help === help
}
