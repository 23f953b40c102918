import { deliver, type DeliverDependencies, type DeliveredAttempt } from '../delivery/deliver.ts'
import { createDueLanes, type LaneIds } from '../delivery/due-lanes.ts'
import { isHostExhausted } from '../delivery/host-share.ts'
import type { ClaimedLane } from '../delivery/lane.ts'
import type { Logger } from '../platform/logger.ts'

/** Delivers webhooks until it is stopped. */
export interface DeliveryWorker {
  /** Begins to sweep once a second. */
  start(): void
  /** Looks for work now, in these lanes; for whoever has just enqueued. Returns at once. */
  wake(laneIds?: LaneIds): void
  /** Resolves when no lane is being served and none is ready. */
  idle(): Promise<void>
  /** Lets running attempts end and gives the leases back. */
  stop(): Promise<void>
}

export interface DeliveryWorkerOptions {
  /** Names this process in leases; new at every start. */
  readonly owner: string
  /** Requests under way at once. */
  readonly concurrency: number
  /** Of these, to one host (DL-9). */
  readonly hostConcurrency: number
  readonly log: Logger
  /** No other worker can reach the lanes: leases that are left were left by a dead one, and end at the start. */
  readonly isSole: boolean
  /** Awaited before each claim, for a clock that has to be read from elsewhere. */
  syncClock?(): Promise<void>
}

const SWEEP_MS = 1000
/** The share of requests that lanes which failed last time may have (DL-9). */
const FAILING_SHARE = 0.2
/** After no failing lane was ready it is not asked for one sooner; each waits longer than that anyway. */
const FAILING_LOOK_MS = 100

/**
 * One sweep a second looks at all lanes and one after each wake-up at those it is about, and claims as many of them as there are free places
 * (DL-3, DL-9).
 */
export function createDeliveryWorker(
  dependencies: DeliverDependencies,
  { owner, concurrency, hostConcurrency, log, isSole, syncClock }: DeliveryWorkerOptions,
): DeliveryWorker {
  const stopping = new AbortController()
  const logged = withLog({ ...dependencies, onAttempt: scheduleAfterWait }, log)
  const timers = new Set<NodeJS.Timeout>()
  const running = new Map<ClaimedLane, Promise<void>>()
  let timer: NodeJS.Timeout | undefined
  let sweeping: Promise<void> | null = null
  const due = createDueLanes()
  /** Lanes that somebody woke while they were served. */
  const wokenLate = new Set<number>()
  let areLeasesStale = isSole
  /** Wake-ups that were about no lane in particular. */
  let wakeUps = 0
  /** A lane has waited after its failure. */
  let isFailingDue = false
  /** When a sweep last asked for failing lanes in vain. */
  let noneFailingAt = Number.NEGATIVE_INFINITY
  /** True when a sweep took as many lanes as there were places, at all or for a host, and none has looked at all since. */
  let mayMoreBeReady = false
  /** A lane has ended since the last sweep began. */
  let wasPlaceFreed = false

  function schedule(laneIds: LaneIds): void {
    if (stopping.signal.aborted) return
    due.add(laneIds)
    sweeping ??= sweepWhileDue()
  }

  /** A lane that waits less than a sweep is looked after when its time has come. */
  function scheduleAfterWait(event: DeliveredAttempt): void {
    dependencies.onAttempt?.(event)
    const { waitMs } = event.decision
    if (waitMs === 0 || waitMs >= SWEEP_MS || stopping.signal.aborted) return
    const timer = setTimeout(() => {
      timers.delete(timer)
      isFailingDue = true
      schedule([event.lane.claim.laneId])
    }, waitMs)
    timers.add(timer)
  }

  async function sweepWhileDue(): Promise<void> {
    for (let among = due.take(); among !== undefined && !stopping.signal.aborted; among = due.take()) {
      try {
        await sweep(among)
      } catch (error) {
        mayMoreBeReady = true
        log.error({ err: error }, 'delivery.claim_failed')
      }
    }
    sweeping = null
  }

  async function sweep(among: LaneIds): Promise<void> {
    const limit = concurrency - running.size
    mayMoreBeReady ||= limit <= 0
    if (limit <= 0) return
    wasPlaceFreed = false
    const served = [...running.keys()].map(({ claim }) => claim.laneId)
    for (const laneId of served) if (among?.includes(laneId)) wokenLate.add(laneId)
    const failing = [...running.keys()].filter((lane) => lane.state.failures > 0).length
    const failingRoom = Math.max(0, Math.ceil(concurrency * FAILING_SHARE) - failing)
    const busyHosts = countHosts(running.keys())
    await syncClock?.()
    if (areLeasesStale) {
      await dependencies.lanes.releaseAll()
      areLeasesStale = false
    }
    const claimedAt = dependencies.clock.monotonic()
    const isAskedForFailing = isFailingDue || claimedAt - noneFailingAt >= FAILING_LOOK_MS
    isFailingDue = false
    const lanes = await dependencies.lanes.claim({
      owner,
      nowMs: dependencies.clock.now(),
      leaseMs: dependencies.leaseMs,
      limit,
      failingLimit: isAskedForFailing ? failingRoom : 0,
      hostLimit: hostConcurrency,
      busyHosts,
      exceptLaneIds: served,
      among,
    })
    if (isAskedForFailing && !lanes.some(({ state }) => state.failures > 0)) noneFailingAt = claimedAt
    mayMoreBeReady =
      lanes.length >= limit ||
      isHostExhausted(hostConcurrency, busyHosts, countHosts(lanes)) ||
      // Of the lanes that it was not about a sweep knows nothing new.
      (among !== null && mayMoreBeReady)
    if (mayMoreBeReady && wasPlaceFreed) schedule(null)
    for (const lane of lanes) running.set(lane, serve(lane, claimedAt))
  }

  async function serve(lane: ClaimedLane, claimedAt: number): Promise<void> {
    const { laneId } = lane.claim
    const seen = wakeUps
    let isDue = false
    try {
      const left = await deliver(logged, lane, claimedAt, stopping.signal)
      // Whoever enqueued while the lane was held found it taken.
      isDue = left === 'more' || seen !== wakeUps || wokenLate.has(laneId)
    } catch (error) {
      // The lease runs out by itself, and the next owner goes on from what is stored.
      log.error({ err: error, channel: lane.channel, projectId: lane.projectId }, 'delivery.failed')
    }
    running.delete(lane)
    wokenLate.delete(laneId)
    wasPlaceFreed = true
    // Whoever found no free place has one now.
    if (mayMoreBeReady) schedule(null)
    else if (isDue) schedule([laneId])
  }

  return {
    start() {
      timer = setInterval(schedule, SWEEP_MS, null)
      schedule(null)
    },
    wake(laneIds = null) {
      if (laneIds === null) wakeUps += 1
      schedule(laneIds)
    },
    async idle() {
      for (;;) {
        // A lane that ends may schedule a sweep, which is visible one turn later.
        await Promise.all([sweeping, ...running.values()])
        await new Promise(setImmediate)
        if (sweeping === null && running.size === 0) return
      }
    },
    async stop() {
      clearInterval(timer)
      stopping.abort()
      for (const timer of timers) clearTimeout(timer)
      await sweeping
      await Promise.all(running.values())
    },
  }
}

function countHosts(lanes: Iterable<ClaimedLane>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { host } of lanes) counts.set(host, (counts.get(host) ?? 0) + 1)
  return counts
}

/** One canonical line an attempt. */
function withLog(dependencies: DeliverDependencies, log: Logger): DeliverDependencies {
  return {
    ...dependencies,
    onAttempt(event) {
      dependencies.onAttempt?.(event)
      logAttempt(event, log)
    },
  }
}

function logAttempt({ lane, batch, report, decision, isClaimStanding }: DeliveredAttempt, log: Logger): void {
  const line = {
    projectId: lane.projectId,
    channel: lane.channel,
    outcome: report.outcome.kind,
    ...('status' in report.outcome ? { status: report.outcome.status } : {}),
    ...('reason' in report.outcome ? { reason: report.outcome.reason } : {}),
    durationMs: Math.round(report.durationMs),
    messages: batch.messages.length,
    step: decision.step,
    buried: decision.buried.length,
    waitMs: decision.waitMs,
    failures: decision.lane.failures,
    isClaimStanding,
  }
  if (decision.step === 'acknowledge') log.info(line, 'delivery.attempted')
  else log.warn(line, 'delivery.attempted')
}
