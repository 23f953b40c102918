import type { CacheTables } from './schema/cache.ts'
import type { DeliveryTables } from './schema/delivery.ts'
import type { IngestTables } from './schema/ingest.ts'
import type { ProjectTables } from './schema/projects.ts'
import type { AnalyticsTables } from './schema/analytics.ts'
import type { UploadTables } from './schema/uploads.ts'

/**
 * The control database. Instants are epoch milliseconds (`…_at`) in 64-bit integers, booleans are 0 or 1, bodies are
 * bytes; so both dialects store and return the same values.
 */
export interface ControlSchema
  extends ProjectTables, IngestTables, DeliveryTables, CacheTables, AnalyticsTables, UploadTables {}
