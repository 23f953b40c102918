export { createBridge } from './bridge/create-bridge.ts'
export type { Bridge, BridgeOptions, RunningBlock } from './bridge/create-bridge.ts'
export type { EntityAnswer, EntityRequest } from './bridge/entity-messages.ts'
export type { ProcessResult } from './bridge/process-result.ts'
export { runBindings } from './bridge/run-bindings.ts'
export type { ProcessBindings, StreamMessage, StreamRequest } from './bridge/run-bindings.ts'
export { createClient } from './client/create-client.ts'
export type {
  Client,
  DeadLetter,
  DeadLetterPage,
  RangeQueryAnswer,
  RangeQueryRequest,
  SqlAnswer,
  SqlQuery,
} from './client/create-client.ts'
export { MillraceError } from './client/millrace-error.ts'
export { isRetryable, projectPath, request, requestWithRetry } from './client/request.ts'
export type { Connection, RetryOptions } from './client/request.ts'
export { createProcessor } from './processor/create-processor.ts'
export type { Processor, ProcessorOptions } from './processor/create-processor.ts'
export type { Block, Context, Place } from './processor/block-context.ts'
export type { EntityStore } from './processor/context-store.ts'
export type { Attributes, Labels, MetricValue } from './processor/encode.ts'
export type { EntityFilter } from './processor/entity-filter.ts'
export type { EntityRow } from './processor/entity-state.ts'
export { ExactDecimal } from './processor/exact-decimal.ts'
export type { DecimalLike } from './processor/exact-decimal.ts'
export { fileSpool } from './processor/file-spool.ts'
export type { FileSpoolOptions } from './processor/file-spool.ts'
export { Counter, Entity, Exporter, Gauge } from './processor/instruments.ts'
export type { Spool, SpoolEntry } from './processor/spool.ts'
export { verifyWebhook, WebhookVerificationError } from './webhook/verify-webhook.ts'
export type { VerifyOptions, WebhookMessage } from './webhook/verify-webhook.ts'
