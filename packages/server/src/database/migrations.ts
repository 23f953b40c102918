import type { ControlMigration } from './migrate.ts'
import { projectsMigration } from './migrations/0001-projects.ts'
import { ingestMigration } from './migrations/0002-ingest.ts'
import { deliveryMigration } from './migrations/0003-delivery.ts'
import { cacheMigration } from './migrations/0004-cache.ts'
import { analyticsMigration } from './migrations/0005-analytics.ts'
import { processorUploadsMigration } from './migrations/0012-processor-uploads.ts'
import { sqlExecutionsMigration } from './migrations/0030-sql-executions.ts'
import { dataVersionsMigration } from './migrations/0040-data-versions.ts'
import { channelOperationMigration } from './migrations/0050-channel-operation.ts'
import { readViewsMigration } from './migrations/0060-read-views.ts'
import { chainHeightsMigration } from './migrations/0061-chain-heights.ts'
import { openWritesMigration } from './migrations/0062-open-writes.ts'
import { queuedBytesMigration } from './migrations/0070-queued-bytes.ts'
import { laneCountersMigration } from './migrations/0071-lane-counters.ts'
import { laneStatesMigration } from './migrations/0072-lane-states.ts'
import { leaseMemoryMigration } from './migrations/0073-lease-memory.ts'
import { keptBatchesMigration } from './migrations/0080-kept-batches.ts'
import { requestsAtOnceMigration } from './migrations/0081-requests-at-once.ts'

/** Every schema step, oldest first. */
export const MIGRATIONS: readonly ControlMigration[] = [
  projectsMigration,
  ingestMigration,
  deliveryMigration,
  cacheMigration,
  analyticsMigration,
  processorUploadsMigration,
  sqlExecutionsMigration,
  dataVersionsMigration,
  channelOperationMigration,
  readViewsMigration,
  chainHeightsMigration,
  openWritesMigration,
  queuedBytesMigration,
  laneCountersMigration,
  laneStatesMigration,
  leaseMemoryMigration,
  keptBatchesMigration,
  requestsAtOnceMigration,
]
