import { setTimeout } from 'node:timers/promises'
import { createAnalytics, type Analytics } from './analytics/analytics.ts'
import { createCursorCodec } from './analytics/cursor.ts'
import { createClaims } from './cache/claims.ts'
import { createDataVersions } from './cache/data-versions.ts'
import { createFairMemory } from './cache/fair-memory.ts'
import { createAnsweredWrites } from './cache/answered-writes.ts'
import { createReadViews } from './cache/read-view.ts'
import { createResultCache, type RunningResultCache } from './cache/result-cache.ts'
import { createBucketSource } from './clickhouse/bucket-source.ts'
import { createEventSource } from './clickhouse/event-source.ts'
import { createFactStore } from './clickhouse/fact-store.ts'
import type { FactEngine } from './clickhouse/fact-engine.ts'
import { createMetricCatalog } from './clickhouse/metric-catalog.ts'
import { createProjectUsers } from './clickhouse/project-users.ts'
import { createSeriesSource } from './clickhouse/series-source.ts'
import { createSqlEngine } from './clickhouse/sql-engine.ts'
import { createStorageUsage } from './clickhouse/storage-usage.ts'
import type { Config } from './config.ts'
import { createAlertStore } from './database/alert-store.ts'
import { createAttemptStore } from './database/attempt-store.ts'
import { createBatchStore } from './database/batch-store.ts'
import { countChannels } from './database/channel-counts.ts'
import { createChannelStore } from './database/channel-store.ts'
import { createDatabaseClock } from './database/database-clock.ts'
import { createDataVersionStore } from './database/data-version-store.ts'
import type { ControlDatabase } from './database/database.ts'
import { expireDelivery } from './database/dead-letter-expiry.ts'
import { createDeadLetterStore } from './database/dead-letter-store.ts'
import { createFlightStore } from './database/flight-store.ts'
import { createExecutionStore } from './database/execution-store.ts'
import { createKeyStore } from './database/key-store.ts'
import { createLaneStore } from './database/lane-store.ts'
import { enqueueExports, withdrawExports } from './database/outbox.ts'
import { measureQueuedBytes } from './database/queued-bytes.ts'
import { createNameChangesStore } from './database/name-changes-store.ts'
import { createProjectStore } from './database/project-store.ts'
import { createUploadStore } from './database/upload-store.ts'
import { createResultStore } from './database/result-store.ts'
import { createSavedQueryStore } from './database/saved-query-store.ts'
import { createSqlSpool } from './database/sql-spool.ts'
import { createWakeUp, type WakeUp } from './database/wake-up.ts'
import { createAttemptCounter } from './delivery/attempt-counts.ts'
import { createChannels } from './delivery/manage-channels.ts'
import { createQueueBound } from './delivery/queue-bound.ts'
import { createTestChannel } from './delivery/test-channel.ts'
import { createConsoleSessions, type ConsoleSessions } from './http/console-session.ts'
import { createRequestCounts, type RequestCounts } from './http/exposition/request-counts.ts'
import { createRangeRenderer, type RangeRenderer } from './http/range-renderer.ts'
import type { AnyRoute } from './http/route.ts'
import { attemptsRoute } from './http/routes/attempts.ts'
import { channelOperationsRoutes } from './http/routes/channel-operations.ts'
import { channelRoutes } from './http/routes/channel.ts'
import { channelsRoutes } from './http/routes/channels.ts'
import { deadLetterOperationsRoutes } from './http/routes/dead-letter-operations.ts'
import { deadLettersRoute } from './http/routes/dead-letters.ts'
import { ingestRoute } from './http/routes/ingest.ts'
import { insightsRoute } from './http/routes/insights.ts'
import { keyRoutes } from './http/routes/key.ts'
import { keysRoutes } from './http/routes/keys.ts'
import { otlpRoutes } from './http/routes/otlp.ts'
import { metricFunctionsRoute } from './http/routes/metric-functions.ts'
import { metricListRoute } from './http/routes/metric-list.ts'
import { projectRoutes } from './http/routes/project.ts'
import { projectUsageRoute } from './http/routes/project-usage.ts'
import { projectsRoutes } from './http/routes/projects.ts'
import { queryInstantRoute } from './http/routes/query-instant.ts'
import { queryRangeRoute } from './http/routes/query-range.ts'
import { remoteWriteRoute } from './http/routes/remote-write.ts'
import { rollbackRoute } from './http/routes/rollback.ts'
import { serviceMetricsRoute } from './http/routes/service-metrics.ts'
import { serviceStatusRoute, type StatedEngine } from './http/routes/service-status.ts'
import { sessionRoutes } from './http/routes/session.ts'
import { sqlExecuteRoute } from './http/routes/sql-execute.ts'
import { sqlExecutionRoutes } from './http/routes/sql-executions.ts'
import { sqlSavedRoutes } from './http/routes/sql-saved.ts'
import { uploadRoutes } from './http/routes/upload.ts'
import { uploaderRoutes } from './http/routes/uploader.ts'
import { versionsRoutes } from './http/routes/versions.ts'
import { createIngest, type Ingest } from './ingest/ingest.ts'
import { createStoredCounter } from './ingest/stored-counts.ts'
import { DEFAULT_INGEST_LIMITS } from './ingest/ingest-limits.ts'
import { createRememberedSeries } from './metrics/remembered-series.ts'
import { createRunInsights } from './metrics/run-insights.ts'
import { createPointMemory } from './metrics/reuse-points.ts'
import { createRunRangeQuery } from './metrics/run-range-query.ts'
import type { Clock } from './platform/clock.ts'
import { repeat } from './platform/repeat.ts'
import { randomId } from './platform/ids.ts'
import type { Logger } from './platform/logger.ts'
import { createDeliveryChores } from './processes/delivery-chores.ts'
import { createDeliveryWorker, type DeliveryWorker } from './processes/delivery-worker.ts'
import type { Chore } from './processes/housekeeper.ts'
import { sqlLimits } from './processes/sql-limits.ts'
import { createAccess, type Access } from './projects/access.ts'
import { createKeys, type Keys } from './projects/keys.ts'
import { createProjects } from './projects/projects.ts'
import { createUploads } from './projects/uploads.ts'
import { createAddressGuard } from './webhooks/address-guard.ts'
import { createWebhookEndpoint, headersOf, type WebhookEndpoint } from './webhooks/endpoint.ts'
import { createWebhookSecret } from './webhooks/signature.ts'

/** The engines that a process works with. */
export interface Engines {
  readonly facts: FactEngine
  readonly db: ControlDatabase
  /** Resolves when the control database answers. */
  readonly pingDatabase: () => Promise<void>
  /** Signs SQL cursors; the same on all instances (CU-2, CU-3). */
  readonly cursorSecret: Uint8Array
  /** Makes the passwords of the projects' users on a ClickHouse server; the same on all instances. */
  readonly sqlUserSecret: Uint8Array
  /** Seals the sessions of the console; the same on all instances. */
  readonly sessionSecret: Uint8Array
  /** True while no other instance can share the engines, because they are embedded. */
  readonly isSoleInstance: boolean
}

/** The parts of the service, wired but not started. */
export interface Composition {
  readonly access: Access
  readonly keys: Keys
  readonly sessions: ConsoleSessions
  readonly routes: readonly AnyRoute[]
  readonly ingest: Ingest
  readonly analytics: Analytics
  readonly cache: RunningResultCache
  readonly worker: DeliveryWorker
  /** Between processes; null where there is only this one. */
  readonly wakeUp: WakeUp | null
  readonly endpoint: WebhookEndpoint
  readonly chores: readonly Chore[]
  readonly renderer: RangeRenderer
  readonly requestCounts: RequestCounts
}

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** How long a repeated batch id is recognised (IN-2). */
const BATCH_MEMORY_MS = 30 * DAY_MS
const LEASE_MS = 15_000
/** How late a change of data made by another instance is seen, and a second look where there is no other. */
const DATA_VERSION_SHARED_MS = 100
const DATA_VERSION_SOLE_MS = 5000
/** The deadline of a receiver (interface, section 8). */
const ACKNOWLEDGE_WITHIN_MS = 5000

/** Keeps no process alive. */
const wait = (ms: number) => setTimeout(ms, undefined, { ref: false })

/** Wires domain and edges together; the only place that knows both. */
export function compose(config: Config, engines: Engines, clock: Clock, log: Logger): Composition {
  const { facts, db, isSoleInstance } = engines
  const instance = randomId()
  const cacheDefaults = {
    ttlSeconds: config.cacheTtlSeconds,
    refreshTtlSeconds: config.cacheRefreshTtlSeconds,
  }

  const factStore = createFactStore(facts)
  const usage = createStorageUsage(facts)
  const channelStore = createChannelStore(db)
  const uploadStore = createUploadStore(db)
  // The embedded engine knows no users.
  const projectUsers =
    config.clickhouseUrl === ''
      ? undefined
      : createProjectUsers({ engine: facts, secret: engines.sqlUserSecret, limits: sqlLimits(config), log })
  const projects = createProjects({
    store: createProjectStore(db),
    clock,
    eraseData: async ({ id }) => {
      // First what still sends: a channel outlives no project.
      for (const channel of await channelStore.list(id)) await channelStore.remove(channel.id, clock.now())
      await factStore.dropProject(id)
      await projectUsers?.forget(id)
    },
    eraseVersion: async (projectId, version) => {
      await ingest.dropVersion({ projectId, version })
      await uploadStore.remove(projectId, version)
    },
  })
  const uploads = createUploads({
    store: uploadStore,
    projects,
    clock,
    createToken: () => randomId(32),
  })
  const keys = createKeys({ store: createKeyStore(db), clock, log })
  const sessions = createConsoleSessions(engines.sessionSecret, clock)
  const dataVersionStore = createDataVersionStore(db)
  const dataVersions = createDataVersions({
    store: dataVersionStore,
    clock,
    maxAgeMs: isSoleInstance ? DATA_VERSION_SOLE_MS : DATA_VERSION_SHARED_MS,
  })
  // What one instance has answered and not stored yet, another would not wait for.
  const answered = isSoleInstance ? { answered: createAnsweredWrites(wait) } : {}
  const cache = createResultCache({
    ...answered,
    store: createResultStore(db),
    versions: dataVersions,
    views: createReadViews({
      store: dataVersionStore,
      versions: dataVersions,
      clock,
      sleep: (ms) => setTimeout(ms),
    }),
    ...(isSoleInstance
      ? {}
      : { claims: createClaims({ store: createFlightStore(db), owner: instance, clock, repeat, log }) }),
    clock,
    sleep: (ms) => setTimeout(ms),
    log,
    limits: { memoryBytesMax: config.cacheMemoryBytes },
  })

  const guard = createAddressGuard({ allowedCidrs: config.webhookAllowedCidrs })
  const endpoint = createWebhookEndpoint(guard, clock)
  const lanes = createLaneStore(db)
  // Leases must mean the same on all machines; with an embedded database there is only this one.
  const laneClock = config.databaseUrl === '' ? null : createDatabaseClock(db, clock)
  const attemptCounter = createAttemptCounter()
  const worker = createDeliveryWorker(
    {
      onAttempt: attemptCounter.count,
      lanes,
      endpoint,
      clock: laneClock ?? clock,
      random: Math.random,
      sleep: (ms) => setTimeout(ms),
      leaseMs: LEASE_MS,
      timeoutMs: ACKNOWLEDGE_WITHIN_MS,
    },
    {
      owner: instance,
      concurrency: config.webhookConcurrency,
      hostConcurrency: config.webhookHostConcurrency,
      log,
      isSole: laneClock === null,
      ...(laneClock === null ? {} : { syncClock: laneClock.sync }),
    },
  )
  const wakeUp = config.databaseUrl === '' ? null : createWakeUp(config.databaseUrl, log)
  // Without the role, this process only enqueues, and the workers are others.
  const wake: typeof worker.wake = config.roles.includes('worker')
    ? worker.wake
    : (laneIds = null) => wakeUp?.send(laneIds)
  const channels = createChannels({
    store: channelStore,
    guard,
    clock,
    createSecret: createWebhookSecret,
    wake,
  })
  const attempts = createAttemptStore(db)
  const letters = createDeadLetterStore(db)
  const testChannel = createTestChannel({
    store: channelStore,
    attempts,
    endpoint,
    clock,
    timeoutMs: ACKNOWLEDGE_WITHIN_MS,
    headersOf,
  })

  const storedCounter = createStoredCounter()
  const ingest = createIngest({
    ...answered,
    facts: factStore,
    batches: createBatchStore(
      db,
      { enqueueExports, withdrawExports },
      { onChanged: dataVersions.noteChanged, onEnqueued: wake },
    ),
    versions: projects,
    instance,
    isSoleInstance,
    clock,
    log,
    limits: DEFAULT_INGEST_LIMITS,
    newBatchId: randomId,
    admitExports: createQueueBound({
      measure: () => measureQueuedBytes(db),
      clock,
      maxBytes: config.webhookQueueBytes,
    }).admit,
    onStored: storedCounter.count,
    sleep: (ms) => setTimeout(ms),
  })
  const points = createPointMemory({
    memory: createFairMemory(config.cacheMemoryBytes / 2),
    changes: dataVersionStore,
  })
  const source = createRememberedSeries(
    {
      source: createSeriesSource(facts),
      buckets: createBucketSource(facts),
      changes: createNameChangesStore(db),
      clock,
    },
    { bytesMax: config.metricsMemoryBytes },
  )
  const reads = { points, source, cache, clock }
  const runRangeQuery = createRunRangeQuery(reads)
  const analytics = createAnalytics({
    ...answered,
    engine: createSqlEngine(facts, projectUsers),
    spool: createSqlSpool(db),
    executionStore: createExecutionStore(db),
    queries: createSavedQueryStore(db),
    cursors: createCursorCodec(engines.cursorSecret),
    cache,
    clock,
    instance,
    limits: sqlLimits(config),
    sleep: (ms) => setTimeout(ms),
  })

  const renderer = createRangeRenderer()
  const requestCounts = createRequestCounts()
  return {
    renderer,
    requestCounts,
    access: createAccess({ keys, projects }),
    keys,
    sessions,
    ingest,
    analytics,
    cache,
    worker,
    wakeUp,
    endpoint,
    routes: [
      queryRangeRoute({ runRangeQuery, cacheDefaults, renderer }),
      queryInstantRoute({ runRangeQuery, cacheDefaults }),
      insightsRoute(createRunInsights({ ...reads, events: createEventSource(facts) }), cacheDefaults),
      metricListRoute(createMetricCatalog(facts)),
      metricFunctionsRoute(),
      sqlExecuteRoute({ analytics, cacheDefaults }),
      ...sqlExecutionRoutes(analytics),
      ...sqlSavedRoutes(analytics),
      ingestRoute(ingest),
      rollbackRoute(ingest),
      ...otlpRoutes(ingest, clock),
      ...uploadRoutes({ uploads, projects }),
      ...uploaderRoutes({ uploads, projects }),
      remoteWriteRoute(ingest, config.bodyLimitBytes),
      ...projectsRoutes(projects),
      ...projectRoutes(projects),
      projectUsageRoute(usage),
      ...versionsRoutes(projects),
      serviceMetricsRoute({
        requests: requestCounts,
        cache: cache.counts,
        stored: storedCounter.counts,
        attempts: attemptCounter.counts,
        channels: () => countChannels(db),
        queued: () => measureQueuedBytes(db),
        engines: statedEngines(config, engines),
        usage,
      }),
      serviceStatusRoute({ engines: statedEngines(config, engines), usage, clock }),
      ...keysRoutes({ keys, projects }),
      ...keyRoutes({ keys, projects }),
      ...sessionRoutes({ sessions, keys, projects }),
      ...channelsRoutes(channels),
      ...channelRoutes(channels),
      ...channelOperationsRoutes(channels, testChannel),
      attemptsRoute(channels, attempts),
      deadLettersRoute(letters, clock),
      ...deadLetterOperationsRoutes({ channels, letters, clock }),
    ],
    chores: [
      ...createDeliveryChores({
        letters,
        alerts: createAlertStore(db),
        expire: (signal) => expireDelivery(db, clock.now(), signal),
        clock,
        wake,
        log,
      }),
      { name: 'expire batch ids', everyMs: 10 * MINUTE_MS, run: () => ingest.expire(BATCH_MEMORY_MS) },
      { name: 'expire SQL results', everyMs: MINUTE_MS, run: analytics.expire },
      { name: 'recover ingest', everyMs: MINUTE_MS, run: () => ingest.recover().then(() => 0) },
    ],
  }
}

function statedEngines(config: Config, { facts, pingDatabase }: Engines): readonly StatedEngine[] {
  const factsProduct = config.clickhouseUrl === '' ? 'chDB, embedded' : 'ClickHouse'
  const controlProduct = config.databaseUrl === '' ? 'SQLite, embedded' : 'PostgreSQL'
  return [
    { name: 'facts', product: factsProduct, ping: () => facts.ping() },
    { name: 'control', product: controlProduct, ping: pingDatabase },
  ]
}
