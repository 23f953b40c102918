import type { Clock } from '../platform/clock.ts'
import type { AnswerScope } from './cache-policy.ts'
import {
  ownerKey,
  type Coverage,
  type CurrentVersion,
  type DataOwner,
  type DataVersion,
  type DataVersionStore,
  type DataView,
} from './data-version-store.ts'

/** What an answer was computed from; kept with it. */
export interface Basis extends AnswerScope {
  readonly owner: DataOwner
  /** `latest` when its computation began. */
  readonly dataVersion: number
  /** The highest block of each chain that it includes. */
  readonly heights: Readonly<Record<string, number>>
  /**
   * What becomes of new data at the open end of its names: `wait`, the range is open too, so it waits for the refresh ttl; `matter`, the
   * range had ended before that data came; `outside`, all names were beyond the end of the range already.
   */
  readonly newData: 'wait' | 'matter' | 'outside'
}

/** Tells whether answers still hold (CA-6). */
export interface DataVersions {
  /** To be called before the first fact is read, with what was the latest then. */
  begin(owner: DataOwner, scope: AnswerScope, nowMs: number, view: DataView): Promise<Basis>
  /** Was the processor version deleted, so that the answer may not be given at all? As cheap. */
  isDeleted(basis: Basis): Promise<boolean>
  /** Has late data or a rollback changed what the answer covers? Cheap: it is asked at every hit. */
  isLate(basis: Basis): Promise<boolean>
  /** Is it known, without a look, that the answer is neither deleted nor late? */
  isKnownToHold(basis: Basis): boolean
  /** Would the same computation give the same answer? Judged to the day. */
  isUnchanged(basis: Basis): Promise<boolean>
  /** Tells of changes that this process has made, so that they are seen at once. */
  noteChanged(owner: DataOwner): void
}

export interface DataVersionsOptions {
  readonly store: DataVersionStore
  readonly clock: Clock
  /** How long a look at the store is good for; what bounds how late changes made by other instances are seen. */
  readonly maxAgeMs: number
}

interface Look {
  /** Monotonic; when it began. */
  readonly at: number
  readonly version: Promise<CurrentVersion>
}

/** What a look has found. */
interface Found {
  readonly at: number
  readonly version: CurrentVersion
}

const OWNERS_MAX = 10_000

/** Looks at the store about once per `maxAgeMs` and change, whatever the number of hits. */
export function createDataVersions({ store, clock, maxAgeMs }: DataVersionsOptions): DataVersions {
  const looks = new Map<string, Look>()
  const found = new Map<string, Found>()
  /** Up to which data version an answer is known to hold. */
  const holds = new WeakMap<Basis, number>()
  const late = new WeakSet<Basis>()

  function current(owner: DataOwner): Promise<CurrentVersion> {
    const key = ownerKey(owner)
    const known = looks.get(key)
    if (known && clock.monotonic() - known.at < maxAgeMs) return known.version
    return look(owner, key).version
  }

  function look(owner: DataOwner, key: string): Look {
    if (looks.size >= OWNERS_MAX) {
      looks.clear()
      found.clear()
    }
    const begun = { at: clock.monotonic(), version: store.current(owner) }
    looks.set(key, begun)
    // What was changed by this process meanwhile is looked at anew.
    const isLast = () => looks.get(key) === begun
    begun.version.then(
      (version) => isLast() && found.set(key, { at: begun.at, version }),
      () => isLast() && looks.delete(key),
    )
    return begun
  }

  /** Looks ahead, so that who asks often finds what he asks for. */
  function isKnownToHold(basis: Basis): boolean {
    const key = ownerKey(basis.owner)
    const known = found.get(key)
    if (!known) return false
    const ageMs = clock.monotonic() - known.at
    if (ageMs >= maxAgeMs) return false
    if (ageMs >= maxAgeMs / 2 && looks.get(key)?.at === known.at) look(basis.owner, key)
    return !known.version.isDeleted && !late.has(basis) && reaches(basis, known.version)
  }

  /** Is an answer known to hold at this version of the data? */
  function reaches(basis: Basis, version: CurrentVersion): boolean {
    return relevantTo(basis, version) <= Math.max(basis.dataVersion, holds.get(basis) ?? 0)
  }

  async function isLate(basis: Basis): Promise<boolean> {
    if (late.has(basis)) return true
    const version = await current(basis.owner)
    if (reaches(basis, version)) return false
    const covered = await store.covered(basis.owner, basis.coverage)
    const isChanged = relevantTo(basis, covered) > basis.dataVersion
    if (isChanged) late.add(basis)
    else holds.set(basis, relevantTo(basis, version))
    return isChanged
  }

  return {
    begin: async (owner, scope, nowMs, { latest, heights }) => {
      const newData = await futureOf(owner, scope.coverage, nowMs)
      return { ...scope, owner, dataVersion: latest, heights, newData }
    },
    isDeleted: async ({ owner }) => (await current(owner)).isDeleted,
    isLate,
    isKnownToHold,
    isUnchanged: async (basis) => {
      if (late.has(basis)) return false
      const covered = await store.covered(basis.owner, basis.coverage)
      return (basis.newData === 'outside' ? covered.late : covered.latest) <= basis.dataVersion
    },
    noteChanged: (owner) => {
      looks.delete(ownerKey(owner))
      found.delete(ownerKey(owner))
    },
  }

  async function futureOf(owner: DataOwner, coverage: Coverage, nowMs: number): Promise<Basis['newData']> {
    if (coverage.toMicros === null || coverage.toMicros >= nowMs * 1000) return 'wait'
    const frontier = await store.frontierMicros(owner, coverage)
    return frontier !== null && frontier > coverage.toMicros ? 'outside' : 'matter'
  }
}

/** The one of the versions whose change matters to an answer. */
function relevantTo({ newData }: Basis, { latest, late }: DataVersion): number {
  return newData === 'matter' ? latest : late
}
