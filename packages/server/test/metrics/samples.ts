import { quoteIdentifier, factTables, versionDatabases } from '../../src/clickhouse/layout.ts'
import type { FactEngine } from '../../src/clickhouse/fact-engine.ts'
import type { Project } from '../../src/projects/project.ts'

/** A sample as ingest would store it. */
export interface Sample {
  readonly metric: string
  readonly type: 'counter' | 'gauge'
  readonly labels: Readonly<Record<string, string>>
  readonly timestampMicros: number
  readonly blockNumber: number
  readonly ordinal: number
  readonly value: number
}

/** A text that is equal for equal labels only. */
export function seriesKey(labels: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** A project whose active version is 1. */
export function testProject(id: number): Project {
  return { id, owner: 'test', name: `p${id}`, type: 'processor', isPublic: false, activeVersion: 1 }
}

/** Creates the fact tables of a version of a project and inserts the samples. */
export async function storeSamples(
  engine: FactEngine,
  projectId: number,
  samples: readonly Sample[],
  version = 1,
): Promise<void> {
  const { facts } = versionDatabases(projectId, version)
  await engine.command(`create database if not exists ${quoteIdentifier(facts)}`)
  for (const statement of factTables(facts)) await engine.command(statement)
  const ids = new Map<string, number>()
  const series: object[] = []
  const points = samples.map((sample) => {
    const key = sample.metric + seriesKey(sample.labels)
    let id = ids.get(key)
    if (id === undefined) {
      id = ids.size + 1
      ids.set(key, id)
      const { metric, type, labels } = sample
      series.push({ metric, series_id: id, type, chain: labels['chain'] ?? '', labels })
    }
    return {
      metric: sample.metric,
      series_id: id,
      timestamp: timestampText(sample.timestampMicros),
      // JSON has no NaN; the engine reads it as text.
      value: Number.isFinite(sample.value) ? sample.value : String(sample.value),
      exact: '',
      chain: sample.labels['chain'] ?? '',
      block_number: sample.blockNumber,
      ordinal: sample.ordinal,
      batch: 1,
    }
  })
  await insert(engine, facts, 'series', series)
  await insert(engine, facts, 'points', points)
}

async function insert(engine: FactEngine, database: string, table: string, rows: readonly object[]) {
  const text = rows.map((row) => JSON.stringify(row)).join('\n')
  await engine.insert({ database, table, format: 'JSONEachRow', rows: Buffer.from(text) })
}

function timestampText(micros: number): string {
  const seconds = Math.floor(micros / 1e6)
  const fraction = String(micros - seconds * 1e6).padStart(6, '0')
  return `${new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')}.${fraction}`
}
