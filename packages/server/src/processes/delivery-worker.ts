import { deliver } from '../delivery/deliver.ts'
import type { DeliverDependencies, DeliveredAttempt, Surroundings } from '../delivery/deliver-dependencies.ts'
import { createDueLanes, type LaneIds } from '../delivery/due-lanes.ts'
import { isHostExhausted } from '../delivery/host-share.ts'
import type { ClaimedLane, LaneClaim, LaneStore, Settled, Settlement } from '../delivery/lane.ts'
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
/** The share of requests that may be beside the first ones of their lanes (DL-9). */
const BESIDE_SHARE = 0.5
/** Ready lanes that one look at all tells of. */
const LOOK_MAX = 1000
/** Lanes that are remembered until there is a place. */
const DUE_MAX = 10_000
/** Lanes of crowded hosts that are tried when a place is free: it may be another host's. */
const CROWDED_MIN = 8

/**
 * Once a second all lanes are looked at for those that are ready, which join those of wake-ups in a row; of these, as many are
 * claimed as there are free places, so that a claim costs by what it claims, however many wait (DL-3, DL-9).
 */
export function createDeliveryWorker(
  dependencies: DeliverDependencies,
  { owner, concurrency, hostConcurrency, log, isSole, syncClock }: DeliveryWorkerOptions,
): DeliveryWorker {
  const stopping = new AbortController()
  const lanes: LaneStore = { ...dependencies.lanes, settle: settleWhatIsSeen }
  const logged = withLog({ ...dependencies, lanes, onAttempt: scheduleAfterWait }, log)
  const timers = new Set<NodeJS.Timeout>()
  const running = new Map<ClaimedLane, Promise<void>>()
  /** Hosts of requests beside the first ones of their lanes. */
  const beside: string[] = []
  /** Places of lanes that are being claimed. */
  let claiming = 0
  let timer: NodeJS.Timeout | undefined
  let sweeping: Promise<void> | null = null
  const due = createDueLanes(DUE_MAX)
  /** Lanes for whose hosts there may have been no place; some of them are due again when one is free. */
  const crowded = createDueLanes(DUE_MAX)
  /** Lanes that somebody woke while they were served, since their settlements began. */
  const wokenLate = new Set<number>()
  /** Who is to be told of that at once. */
  const listeners = new Map<number, () => void>()
  let areLeasesStale = isSole
  /** Wake-ups that were about no lane in particular. */
  let wakeUps = 0
  /** True when a look has not told of all, or something failed, and none was begun since. */
  let mayMoreBeReady = false

  function schedule(laneIds: LaneIds): void {
    if (stopping.signal.aborted) return
    due.add(laneIds)
    resume()
  }

  function resume(): void {
    const isTaking = !due.isEmpty() && freePlaces() > 0 && !stopping.signal.aborted
    if (isTaking) sweeping ??= sweepWhileDue()
  }

  /** A lane that waits less than a sweep is looked after when its time has come. */
  function scheduleAfterWait(event: DeliveredAttempt): void {
    dependencies.onAttempt?.(event)
    const { waitMs } = event.decision
    if (waitMs === 0 || waitMs >= SWEEP_MS || stopping.signal.aborted) return
    const timer = setTimeout(() => {
      timers.delete(timer)
      schedule([event.lane.claim.laneId])
    }, waitMs)
    timers.add(timer)
  }

  /** Whatever is stored when a settlement begins goes next, or the lane is left for a reason that says when to look again. */
  function settleWhatIsSeen(claim: LaneClaim, settlement: Settlement): Promise<Settled> {
    wokenLate.delete(claim.laneId)
    return dependencies.lanes.settle(claim, settlement)
  }

  async function sweepWhileDue(): Promise<void> {
    for (let among = takeDue(); among !== undefined && !stopping.signal.aborted; among = takeDue()) {
      try {
        await syncClock?.()
        await endStaleLeases()
        await (among === null ? look() : claim(among))
      } catch (error) {
        mayMoreBeReady = true
        log.error({ err: error }, 'delivery.claim_failed')
      } finally {
        claiming = 0
      }
    }
    sweeping = null
  }

  /** As many as there are places for; all others stay due. */
  function takeDue(): LaneIds | undefined {
    const places = freePlaces()
    const among = places > 0 ? due.take(places) : undefined
    claiming = among?.length ?? 0
    return among
  }

  function freePlaces(): number {
    return concurrency - running.size - claiming - beside.length
  }

  function countHosts(): ReadonlyMap<string, number> {
    return countEach([...running.keys().map(({ host }) => host), ...beside])
  }

  const surroundings: Surroundings = {
    takePlace(host) {
      const isFree = freePlaces() > 0 && beside.length < concurrency * BESIDE_SHARE
      if (!isFree || (countHosts().get(host) ?? 0) >= hostConcurrency) return false
      beside.push(host)
      return true
    },
    givePlace(host) {
      beside.splice(beside.indexOf(host), 1)
      resumeCrowded()
    },
    onWake: (laneId, listener) => void listeners.set(laneId, listener),
  }

  /** Whoever found no free place has one now. */
  function resumeCrowded(): void {
    due.add(crowded.take(Math.max(CROWDED_MIN, freePlaces())) ?? [])
    resume()
  }

  async function endStaleLeases(): Promise<void> {
    if (areLeasesStale) await dependencies.lanes.releaseAll()
    areLeasesStale = false
  }

  async function look(): Promise<void> {
    mayMoreBeReady = false
    const laneIds = await dependencies.lanes.ready(dependencies.clock.now(), LOOK_MAX)
    mayMoreBeReady ||= laneIds.length >= LOOK_MAX
    due.add(laneIds)
  }

  async function claim(woken: readonly number[]): Promise<void> {
    const served = new Set(running.keys().map(({ claim }) => claim.laneId))
    for (const laneId of woken) {
      if (!served.has(laneId)) continue
      wokenLate.add(laneId)
      listeners.get(laneId)?.()
    }
    const among = woken.filter((laneId) => !served.has(laneId))
    if (among.length === 0) return
    const failing = [...running.keys()].filter((lane) => lane.state.failures > 0).length
    const busyHosts = countHosts()
    const claimedAt = dependencies.clock.monotonic()
    const lanes = await dependencies.lanes.claim({
      owner,
      nowMs: dependencies.clock.now(),
      leaseMs: dependencies.leaseMs,
      limit: among.length,
      failingLimit: Math.max(0, Math.ceil(concurrency * FAILING_SHARE) - failing),
      hostLimit: hostConcurrency,
      busyHosts,
      exceptLaneIds: [...served],
      among,
    })
    if (isHostExhausted(hostConcurrency, busyHosts, countEach(lanes.map(({ host }) => host)))) {
      const claimed = new Set(lanes.map((lane) => lane.claim.laneId))
      crowded.add(among.filter((laneId) => !claimed.has(laneId)))
    }
    for (const lane of lanes) running.set(lane, serve(lane, claimedAt))
  }

  async function serve(lane: ClaimedLane, claimedAt: number): Promise<void> {
    const { laneId } = lane.claim
    const seen = wakeUps
    let isDue = false
    try {
      const left = await deliver(logged, lane, claimedAt, stopping.signal, surroundings)
      // Whoever enqueued while the lane was held found it taken; if it is lost, it may be free.
      isDue = left === 'more' || left === 'lost' || seen !== wakeUps || wokenLate.has(laneId)
    } catch (error) {
      // The lease runs out by itself, and the next owner goes on from what is stored.
      log.error({ err: error, channel: lane.channel, projectId: lane.projectId }, 'delivery.failed')
    }
    running.delete(lane)
    wokenLate.delete(laneId)
    listeners.delete(laneId)
    if (isDue) due.add([laneId])
    if (mayMoreBeReady && due.isEmpty()) due.add(null)
    resumeCrowded()
  }

  return {
    start() {
      timer = setInterval(schedule, SWEEP_MS, null)
      schedule(null)
    },
    wake(laneIds = null) {
      if (laneIds === null) {
        wakeUps += 1
        for (const tell of listeners.values()) tell()
      }
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

function countEach(hosts: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const host of hosts) counts.set(host, (counts.get(host) ?? 0) + 1)
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
