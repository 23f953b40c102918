import { beforeBusyEvents, decideBeside, requestsAllowed } from './decide-beside.ts'
import {
  BATCHES_IN_A_ROW,
  isLeaving,
  LEASE_MARGIN_MS,
  type DeliverDependencies,
  type LeftLane,
  type Surroundings,
} from './deliver-dependencies.ts'
import { batchRequest, type Batch, type ClaimedLane, type Settlement } from './lane.ts'
import { createLease } from './lease.ts'
import { sendBatch, settlementOf, type SentBatch } from './send-batch.ts'
import { settlePersistently } from './settle-persistently.ts'

/**
 * Serves a claimed lane with several requests at once, as many as its channel, its state and its surroundings allow (DL-3). What has ended
 * is settled one by one; after a failure nothing is begun any more, and the lane is left when all that was under way is settled.
 */
export async function deliverAtOnce(
  dependencies: DeliverDependencies,
  lane: ClaimedLane,
  claimedAt: number,
  stopping: AbortSignal,
  surroundings: Surroundings,
): Promise<LeftLane> {
  const { lanes, clock, timeoutMs } = dependencies
  const { claim, limits } = lane
  const lease = createLease(dependencies, claim, claimedAt)
  const underWay = new Set<Batch>()
  const ended: SentBatch[] = []
  /** Something has ended or may have come. */
  let change = Promise.withResolvers<undefined>()
  let state = lane.state
  let readSeq = state.cursorSeq
  let next = lane.first
  let begun = 0
  /** For requests beside the first. */
  let placesTaken = 0
  let waitsUntilAt: number | null = null
  let firstLeft = Infinity
  let isHeld = true
  let left = null as LeftLane | null
  let failure: unknown = null
  surroundings.onWake(claim.laneId, () => change.resolve(undefined))

  /** What is under way is settled all the same: an acknowledgement that is not recorded means a message sent twice. */
  function fail(error: unknown): void {
    failure ??= error
    left ??= 'more'
  }

  const isTurnOver = () => begun >= BATCHES_IN_A_ROW * limits.requestsAtOnce || stopping.aborted

  async function beginWhileAllowed(): Promise<void> {
    while (left === null && !isTurnOver() && underWay.size < requestsAllowed(limits, state)) {
      // A shelved message that is due is read again until its attempt is settled.
      if ([...underWay].some(({ isShelved }) => isShelved)) return
      if (placesTaken < underWay.size && !takePlace()) return
      const batch = await readNext()
      if (batch === null) {
        if (underWay.size === 0) left = 'idle'
        return
      }
      if (await mayBegin(batch)) begin(batch)
    }
  }

  function takePlace(): boolean {
    const isTaken = surroundings.takePlace(lane.host)
    if (isTaken) placesTaken += 1
    return isTaken
  }

  /** All but those that what is under way needs, of which one is the lane's own. */
  function givePlaces(): void {
    for (; placesTaken > Math.max(0, underWay.size - 1); placesTaken -= 1) surroundings.givePlace(lane.host)
  }

  async function readNext(): Promise<Batch | null> {
    const request = batchRequest(limits, { ...state, cursorSeq: readSeq }, clock.now())
    const batch = next ?? (await lanes.nextBatch(claim, request))
    next = null
    return batch && beforeBusyEvents(batch, underWay)
  }

  /** False when one of the messages was replaced or withdrawn since it was read, or the lane has another owner. */
  async function mayBegin(batch: Batch): Promise<boolean> {
    if (lane.isRetracting && !(await lanes.announce(claim, batch.messages, clock.now()))) return false
    if (await lease.covers(timeoutMs + LEASE_MARGIN_MS)) return true
    left = 'lost'
    return false
  }

  function begin(batch: Batch): void {
    begun += 1
    underWay.add(batch)
    if (!batch.isShelved) readSeq = batch.messages.at(-1)?.seq ?? readSeq
    void sendBatch(dependencies, lane, batch)
      .then((sent) => ended.push(sent))
      .catch((error: unknown) => {
        fail(error)
        firstLeft = Math.min(firstLeft, firstSeqOf([batch]))
        underWay.delete(batch)
      })
      .finally(() => change.resolve(undefined))
  }

  async function settle(sent: SentBatch): Promise<void> {
    const { batch, report, endedAt } = sent
    underWay.delete(batch)
    const decided = decideBeside(
      {
        ...report,
        ...batch,
        timeoutMs,
        lane: state,
        limits,
        agesFromAt: lane.agesFromAt,
        nowMs: endedAt,
        random: dependencies.random(),
      },
      { firstElsewhere: Math.min(firstLeft, firstSeqOf(underWay)), readSeq, waitsUntilAt },
    )
    const { decision, nextAttemptAt } = decided
    firstLeft = Math.min(firstLeft, decided.firstLeft)
    if (isLeaving(decision)) {
      waitsUntilAt = nextAttemptAt
      left ??= 'waiting'
    }
    const settlement = settlementOf(sent, decision, {
      fromCursorSeq: state.cursorSeq,
      nextAttemptAt,
      isRetracting: lane.isRetracting,
      next: nextAfter(decision.lane, endedAt),
    })
    const settled = await settlePersistently(dependencies, claim, settlement, lease)
    dependencies.onAttempt?.({ lane, batch, report, decision, isClaimStanding: settled.state !== 'lost' })
    if (settled.state === 'lost') left = 'lost'
    state = decision.lane
    isHeld &&= settled.state === 'held'
    if (settled.state === 'held') next = settled.next
    else left ??= isTurnOver() ? 'more' : 'idle'
  }

  function nextAfter(after: ClaimedLane['state'], nowMs: number): Settlement['next'] {
    if (underWay.size > 0) return 'hold'
    return left !== null || isTurnOver() ? null : batchRequest(limits, after, nowMs)
  }

  try {
    for (;;) {
      await beginWhileAllowed().catch(fail)
      givePlaces()
      if (underWay.size === 0) break
      await change.promise
      change = Promise.withResolvers()
      for (const sent of ended.splice(0)) await settle(sent)
    }
  } finally {
    underWay.clear()
    givePlaces()
  }
  if (failure !== null) throw failure
  if (isHeld && left !== 'lost') await lanes.release(claim, clock.now())
  return left ?? 'more'
}

function firstSeqOf(batches: Iterable<Batch>): number {
  return [...batches].reduce(
    (first, { isShelved, messages }) => (isShelved ? first : Math.min(first, messages.at(0)?.seq ?? first)),
    Infinity,
  )
}
