import type { FactEngine } from '../../packages/server/src/clickhouse/fact-engine.ts'

/** Bytes on disk for each sample. */
export interface DiskUse {
  readonly samples: number
  readonly rawBytesPerSample: number
  readonly hoursBytesPerSample: number
  readonly columns: Readonly<Record<string, number>>
}

/** What the samples and their hours take on disk, compressed, after merging. */
export async function measureDisk(engine: FactEngine, facts: string): Promise<DiskUse> {
  const parameters = { facts }
  const [parts] = await engine.rows<{ bytes: string; samples: string }>(
    `select sum(bytes_on_disk) as bytes, sum(rows) as samples from system.parts where active and database = {facts:String} and table = 'points'`,
    { parameters },
  )
  const [hours] = await engine.rows<{ bytes: string }>(
    `select sum(bytes_on_disk) as bytes from system.projection_parts where active and database = {facts:String} and table = 'points'`,
    { parameters },
  )
  const columns = await engine.rows<{ column: string; bytes: string }>(
    `select column, sum(column_data_compressed_bytes) as bytes from system.parts_columns where active and database = {facts:String} and table = 'points' group by column order by bytes desc`,
    { parameters },
  )
  const samples = Number(parts?.samples)
  const perSample = (bytes: number): number => Math.round((bytes / samples) * 1000) / 1000
  const hoursBytes = Number(hours?.bytes ?? 0)
  return {
    samples,
    rawBytesPerSample: perSample(Number(parts?.bytes) - hoursBytes),
    hoursBytesPerSample: perSample(hoursBytes),
    columns: Object.fromEntries(columns.map(({ column, bytes }) => [column, perSample(Number(bytes))])),
  }
}
