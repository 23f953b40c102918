import { MAX_MESSAGE_BYTES } from '../delivery/message.ts'

/** Limits of ingest (IN-5). What exists already never breaks by them; what would be new is refused. */
export interface IngestLimits {
  readonly maxRecordsPerBatch: number
  readonly maxMetrics: number
  readonly maxSeriesPerMetric: number
  readonly maxLabelsPerSeries: number
  readonly maxLabelValueLength: number
  /** Size of one export's `data`. */
  readonly maxExportBytes: number
  readonly maxEventLogs: number
  readonly maxEntities: number
  /** Of an event log or an entity. */
  readonly maxAttributes: number
  /** Bytes of accepted, not yet stored bodies in this process; beyond it senders are asked to wait. */
  readonly maxWaitingBytes: number
  /** Bytes of bodies that are stored by one insert. */
  readonly maxGroupBytes: number
  /** Bytes of small batches that were answered and wait, in the control database, until they are stored; of all versions together. */
  readonly maxKeptBytes: number
  /** How long a batch waits for an engine that is away before it is refused. */
  readonly maxEngineAwayMs: number
}

export const DEFAULT_INGEST_LIMITS: IngestLimits = {
  maxRecordsPerBatch: 100_000,
  maxMetrics: 10_000,
  maxSeriesPerMetric: 100_000,
  maxLabelsPerSeries: 32,
  maxLabelValueLength: 1024,
  maxExportBytes: MAX_MESSAGE_BYTES,
  maxEventLogs: 1000,
  maxEntities: 1000,
  maxAttributes: 500,
  maxWaitingBytes: 64 * 1024 * 1024,
  maxGroupBytes: 16 * 1024 * 1024,
  maxKeptBytes: 4 * 1024 * 1024,
  maxEngineAwayMs: 30_000,
}
