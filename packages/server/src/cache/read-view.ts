import type { Clock } from '../platform/clock.ts'
import { ServiceError } from '../platform/errors.ts'
import type { AnswerScope, Question } from './cache-policy.ts'
import { dayOf, startOfDayMicros } from './data-change.ts'
import type { Coverage, DataOwner, DataVersionStore, DataView, OpenWrite } from './data-version-store.ts'
import type { Basis, DataVersions } from './data-versions.ts'
import { touchesCoverage, type Snapshot } from './snapshot.ts'

/** A value that was computed from one state of the data, and what that was. */
export interface Viewed<Value> {
  readonly value: Value
  readonly computedAt: number
  readonly basis: Basis
}

interface ReadViewsOptions {
  readonly store: DataVersionStore
  readonly versions: Pick<DataVersions, 'begin'>
  readonly clock: Clock
  readonly sleep: (ms: number) => Promise<unknown>
}

/** Computes answers whose statements all see one state of the data. */
export interface ReadViews {
  /** Throws `unavailable` when rollbacks begin again and again meanwhile. */
  compute<Value>(question: Question<Value>, mayReuse: boolean): Promise<Viewed<Value>>
}

const TRIES_MAX = 8
/** From this try on everything is read as of the snapshot, and rollbacks are not waited for. */
const CAREFUL_FROM_TRY = 4
/** How long a rollback is waited for at first, and longer each time: it is quick, and reading around it is not. */
const ROLLBACK_WAIT_MS = 50
/** How long a statement of a user, which can leave nothing out, waits for batches that are being stored, and how often it looks. */
const BATCH_WAIT_MS = 100
const BATCH_LOOK_MS = 10

/**
 * Facts become visible one by one while a batch is stored, so a computation of several statements could see the first half of a batch in one
 * and the whole in the next. Therefore what is being written where the answer looks is left out by its number, and afterwards it is checked that
 * nothing was written where nothing was left out. Else it is computed again, leaving out more.
 */
export function createReadViews({ store, versions, clock, sleep }: ReadViewsOptions): ReadViews {
  async function read<Value>(
    question: Question<Value>,
    mayReuse: boolean,
    careful: { readonly fromMicros: number; readonly waitsForRollbacks: boolean },
  ): Promise<Viewed<Value> | Disturbance> {
    const computedAt = clock.now()
    const scope = question.scope(computedAt)
    const seen = await store.view(question.owner)
    const view = question.readsOnce ? await whenEnded(question.owner, scope.coverage, seen) : seen
    const open = openIn(view, scope.coverage)
    if (careful.waitsForRollbacks && open.some(({ rollback }) => rollback !== null)) return ROLLING_BACK
    const snapshot = snapshotOf(view, open, careful.fromMicros)
    const basis = await versions.begin(question.owner, scope, computedAt, view)
    const works: (() => void)[] = []
    const value = await question.compute(computedAt, {
      dataVersion: view.latest,
      snapshot,
      mayReuse,
      whenUndisturbed: (work) => void works.push(work),
    })
    const disturbance = await disturbanceOf(question, scope, view, question.readsOnce ? null : snapshot)
    if (question.readsOnce) {
      const isWhole = open.length === 0 && disturbance === null
      // What may hold a part of a batch is due as soon as that batch is whole.
      return { value, computedAt, basis: isWhole ? basis : { ...basis, newData: 'matter' } }
    }
    if (disturbance) return disturbance
    for (const work of works) work()
    return { value, computedAt, basis }
  }

  /** The view when what is open in `seen` where a single statement looks has ended; it is not waited for long. */
  async function whenEnded(owner: DataOwner, coverage: Coverage, seen: DataView): Promise<DataView> {
    const met = new Set(openIn(seen, coverage).map(({ sequence }) => sequence))
    let view = seen
    for (let waitedMs = 0; waitedMs < BATCH_WAIT_MS; waitedMs += BATCH_LOOK_MS) {
      if (!view.open.some(({ sequence }) => met.has(sequence))) break
      await sleep(BATCH_LOOK_MS)
      view = await store.view(owner)
    }
    return view
  }

  /** What was written where nothing was left out; null when nothing was. */
  async function disturbanceOf(
    { owner }: Question<unknown>,
    { coverage }: AnswerScope,
    before: DataView,
    snapshot: Snapshot | null,
  ): Promise<Disturbance | null> {
    const unguarded = snapshot ? upTo(coverage, snapshot.fromMicros) : coverage
    // First what is open: what ends afterwards is among the days that changed.
    const after = await store.view(owner)
    if (after.lastRollback !== before.lastRollback) return ROLLING_BACK
    if (!unguarded) return null
    const open = openIn(after, unguarded)
    // What ends raises the version in the transaction that ends it.
    if (open.length === 0 && after.latest === before.latest) return null
    const days = await store.changedDays(owner, unguarded, before.latest)
    if (open.length === 0 && days?.length === 0) return null
    const [firstDay = Infinity] = days ?? [-Infinity]
    return { isRollback: false, fromMicros: Math.min(startOf(open), startOfDayMicros(firstDay)) }
  }

  return {
    compute: async (question, mayReuse) => {
      let fromMicros = Infinity
      for (let attempt = 1; attempt <= TRIES_MAX; attempt += 1) {
        const isCareful = attempt >= CAREFUL_FROM_TRY
        const outcome = await read(question, mayReuse, {
          fromMicros: isCareful ? -Infinity : fromMicros,
          waitsForRollbacks: !isCareful,
        })
        if ('value' in outcome) return outcome
        fromMicros = Math.min(fromMicros, outcome.fromMicros)
        if (outcome.isRollback) await sleep(ROLLBACK_WAIT_MS * attempt)
      }
      throw new ServiceError('unavailable', 'data is rolled back again and again meanwhile; ask again', {
        retryAfterSeconds: 1,
      })
    },
  }
}

/** Something happened that the computation may have seen half; from `fromMicros` on it must be left out. */
interface Disturbance {
  readonly isRollback: boolean
  readonly fromMicros: number
}

const ROLLING_BACK: Disturbance = { isRollback: true, fromMicros: Infinity }

function snapshotOf(view: DataView, open: readonly OpenWrite[], carefulFrom: number): Snapshot | null {
  const fromMicros = Math.min(carefulFrom, startOf(open))
  if (fromMicros === Infinity) return null
  return {
    upTo: view.upTo,
    except: view.open.map(({ sequence }) => sequence),
    rollbacks: view.open.flatMap(({ rollback }) => rollback ?? []),
    fromMicros,
  }
}

/** The start of the first day that writes touch; days are what changes are noted by. */
function startOf(writes: readonly OpenWrite[]): number {
  const starts = writes.map(({ touches }) =>
    touches ? startOfDayMicros(dayOf(touches.fromMicros)) : -Infinity,
  )
  return Math.min(Infinity, ...starts)
}

function openIn({ open }: DataView, coverage: Coverage): readonly OpenWrite[] {
  return open.filter(({ touches }) => touches === null || touchesCoverage(touches, coverage))
}

/** The part of a coverage before a time; null when there is none. */
function upTo(coverage: Coverage, endMicros: number): Coverage | null {
  if (endMicros <= (coverage.fromMicros ?? -Infinity)) return null
  return { ...coverage, toMicros: Math.min(coverage.toMicros ?? Infinity, endMicros - 1) }
}
