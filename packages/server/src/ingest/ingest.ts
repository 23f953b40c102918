import { ownerKey } from '../cache/data-version-store.ts'
import type { ExportedMessage } from '../delivery/message.ts'
import type { IngestAnswer, RollbackAnswer } from '@millrace/contract'
import type { Logger } from '../platform/logger.ts'
import { invalidArgument, ServiceError } from '../platform/errors.ts'
import type { Project } from '../projects/project.ts'
import type { ProjectVersion } from './batch.ts'
import type { KeptBatch } from './batch-store.ts'
import { differentContent, newLease, type BatchOutcome, type CommitDependencies } from './commit-batches.ts'
import { contentHash, isHashOf } from './content-hash.ts'
import { createCommitter, type Committer } from './committer.ts'
import type { IngestLimits } from './ingest-limits.ts'
import { createOrderOfArrival, type Turn } from './order-of-arrival.ts'
import { parseBody, readVersion } from './parse-body.ts'
import { RefusedRecords } from './refused-records.ts'
import { removeLeftVersions } from './remove-version.ts'
import { createRush } from './rush.ts'
import { createSampleScanner } from './scan-sample.ts'
import { createSeriesCatalog } from './series-catalog.ts'
import { validateBatch } from './validate-batch.ts'
import { isOrdered } from './work-queue.ts'

/** A batch as it arrived. Identity and version that the address or a header names win over those in the body. */
export interface BatchRequest {
  readonly body: Uint8Array
  readonly contentType: string | undefined
  readonly batchId: string | null
  readonly version: number | null
}

/** The write path: accept → store → enqueue. */
export interface Ingest {
  /** Accepts a batch whole or refuses it whole; resolves after everything is durable (IN-2). */
  accept(project: Project, request: BatchRequest): Promise<IngestAnswer>
  /** Removes what a reorganisation undid (IN-3); resolves when nothing of it is left. */
  rollBack(
    project: Project,
    request: { chain: string; blockNumber: number; version: number | null },
  ): Promise<RollbackAnswer>
  /** Drops the data of a version that takes no more, behind what is being stored to it. */
  dropVersion(version: ProjectVersion): Promise<void>
  /** Takes back what dead instances left unfinished, and removes what is left of deleted versions. To be called at start before anything is accepted, and now and then where several instances share the engines. */
  recover(): Promise<void>
  /** Makes anew what earlier builds derived wrongly, and what was answered from it. To be called once, at start; does not fail. */
  mend(): Promise<void>
  /** Drops the memory of batch ids whose batches were accepted longer than `ageMs` ago. */
  expire(ageMs: number): Promise<number>
  /** Refuses new work and resolves when what was accepted is stored. */
  stop(): Promise<void>
}

export interface IngestDependencies extends Omit<CommitDependencies, 'maxEngineAwayMs'> {
  readonly limits: IngestLimits
  readonly log: Logger
  /** Versions of a project: all that exist, and the first one made when there is none (IN-4). */
  readonly versions: {
    versions(projectId: number): Promise<readonly { readonly number: number }[]>
    ensureFirstVersion(projectId: number): Promise<number>
  }
  /** Makes the identifier of a batch that came without one. */
  readonly newBatchId: () => string
  /** No other instance shares the engines, so whatever is unfinished at start was left by a dead one. */
  readonly isSoleInstance: boolean
  /** Asked before anything of a batch with exports is stored; throws when too much waits to be delivered already. */
  readonly admitExports?: (projectId: number, exports: readonly ExportedMessage[]) => Promise<void>
  /** Told of every batch that was stored, and of none twice. */
  readonly onStored?: (records: number) => void
}

interface InFlight {
  readonly contentHash: string
  readonly outcome: Promise<BatchOutcome>
}

export function createIngest(dependencies: IngestDependencies): Ingest {
  const { limits, log, versions, batches, clock } = dependencies
  const catalog = createSeriesCatalog(limits)
  const scanner = createSampleScanner()
  const options = {
    ...dependencies,
    ...limits,
    rush: createRush(clock),
    keptBytes: { now: 0 },
    newAttempt: dependencies.newBatchId,
    readKept: async ({ version }: ProjectVersion, { body, contentType }: KeptBatch) => {
      const { records } = await parseBody(body, contentType ?? undefined, scanner)
      return validateBatch(records, { version, catalog, limits })
    },
  }
  const committers = new Map<string, Committer>()
  const inFlight = new Map<string, InFlight>()
  const takeTurn = createOrderOfArrival()
  const pending = new Set<Promise<unknown>>()
  let waitingBytes = 0
  let isStopping = false

  /** Runs work that `stop` waits for. */
  async function track<Result>(work: () => Promise<Result>): Promise<Result> {
    if (isStopping) throw new ServiceError('unavailable', 'the service is stopping', { retryAfterSeconds: 5 })
    const running = work()
    pending.add(running)
    try {
      return await running
    } finally {
      pending.delete(running)
    }
  }

  function committerOf(version: ProjectVersion): Committer {
    const key = ownerKey(version)
    const known = committers.get(key)
    if (known) return known
    const committer = createCommitter(version, options)
    committers.set(key, committer)
    return committer
  }

  async function resolveVersion(project: Project, wanted: number | null): Promise<number> {
    if (wanted === null) return project.activeVersion ?? (await versions.ensureFirstVersion(project.id))
    if (wanted === project.activeVersion) return wanted
    const known = await versions.versions(project.id)
    if (known.some(({ number }) => number === wanted)) return wanted
    if (known.length === 0 && wanted === 1) return versions.ensureFirstVersion(project.id)
    const newest = known.at(-1)?.number
    throw invalidArgument(
      `version ${wanted} does not exist; ${newest === undefined ? 'the first one is 1' : `the newest is ${newest}`}`,
    )
  }

  async function commit(project: Project, request: BatchRequest, turn: Turn): Promise<IngestAnswer> {
    const sent = await parseBody(request.body, request.contentType, scanner)
    if (sent.records.length > limits.maxRecordsPerBatch) {
      throw invalidArgument(
        `records has ${sent.records.length} records; at most ${limits.maxRecordsPerBatch} are allowed in a batch`,
      )
    }
    const version = await resolveVersion(project, request.version ?? sent.version)
    const batchId = request.batchId ?? sent.batchId ?? dependencies.newBatchId()
    const sentHash = await contentHash(request.body)
    const key = `${project.id}/${version}/${batchId}`
    const other = inFlight.get(key)
    if (other) {
      if (other.contentHash !== sentHash) throw differentContent(batchId)
      turn.end()
      const { accepted, warnings } = await other.outcome
      return { batchId, version, accepted, isRepeated: true, warnings: [...warnings] }
    }
    const outcome = store({ projectId: project.id, version }).catch((error: unknown) => {
      throw error instanceof RefusedRecords ? new RefusedRecords(error.faults, sent.lineOf) : error
    })
    inFlight.set(key, { contentHash: sentHash, outcome })
    try {
      const { accepted, warnings, isRepeated } = await outcome
      return { batchId, version, accepted, isRepeated, warnings: [...warnings] }
    } finally {
      inFlight.delete(key)
    }

    async function store(target: ProjectVersion): Promise<BatchOutcome> {
      const batch = await validateBatch(sent.records, { version, catalog, limits })
      if (batch.exports.length > 0) await dependencies.admitExports?.(target.projectId, batch.exports)
      await (isOrdered(batch) ? turn.reached : turn.behindRollbacks)
      const { promise, resolve, reject } = Promise.withResolvers<BatchOutcome>()
      committerOf(target).submit({
        kind: 'batch',
        batchId,
        contentHash: sentHash,
        isSameContent: (stored) => isHashOf(stored, sentHash, request.body),
        batch,
        sent: { body: request.body, contentType: request.contentType ?? null },
        resolve,
        reject,
      })
      turn.end()
      const result = await promise
      if (!result.isRepeated) dependencies.onStored?.(result.accepted)
      return result
    }
  }

  return {
    accept: async (project, request) => {
      const { byteLength } = request.body
      // One batch always passes, so that none is too large to ever be accepted.
      if (waitingBytes > 0 && waitingBytes + byteLength > limits.maxWaitingBytes) {
        throw new ServiceError(
          'resource_exhausted',
          `${waitingBytes} bytes of batches wait to be stored already; at most ${limits.maxWaitingBytes} may`,
          { retryAfterSeconds: 1 },
        )
      }
      waitingBytes += byteLength
      const turn = takeTurn(project.id, 'batch')
      try {
        return await track(() => commit(project, request, turn))
      } finally {
        turn.end()
        waitingBytes -= byteLength
      }
    },

    rollBack: async (project, { chain, blockNumber, version: wanted }) => {
      if (chain.includes('\u0000') || !chain.isWellFormed()) {
        throw invalidArgument('chain must be Unicode text without the character U+0000')
      }
      const turn = takeTurn(project.id, 'rollback')
      return track(async () => {
        const version = await resolveVersion(project, readVersion(wanted))
        const { promise, resolve, reject } = Promise.withResolvers<number>()
        const order = { chain, aboveBlock: blockNumber }
        await turn.reached
        committerOf({ projectId: project.id, version }).submit({ kind: 'rollback', order, resolve, reject })
        turn.end()
        return { version, withdrawnExports: await promise }
      }).finally(() => {
        turn.end()
      })
    },

    dropVersion: (version) =>
      track(async () => {
        const { promise, resolve, reject } = Promise.withResolvers<void>()
        committerOf(version).submit({ kind: 'removal', resolve, reject })
        await promise
        committers.delete(ownerKey(version))
      }),

    recover: async () => {
      const lease = newLease(options)
      const unfinished = await batches.takeOver({
        ...lease,
        nowMs: clock.now(),
        isSole: dependencies.isSoleInstance,
      })
      for (const [, left] of Map.groupBy(unfinished, (each) => `${each.projectId}/${each.version}`)) {
        const [first] = left
        if (!first) continue
        const { projectId, version } = first
        await committerOf({ projectId, version }).repair(left)
        log.info({ projectId, version, unfinished: left.length }, 'ingest.recovered')
      }
      await removeLeftVersions(options)
    },

    mend: async () => {
      let months = 0
      try {
        for await (const version of options.facts.mendHours()) {
          await batches.raise(version)
          log.info({ ...version, months: ++months }, 'ingest.hours_mended')
        }
      } catch (error) {
        log.error({ err: error, months }, 'ingest.hours_not_mended')
      }
    },

    expire: (ageMs) => batches.expire(clock.now() - ageMs),

    stop: async () => {
      isStopping = true
      await Promise.allSettled(pending)
      await Promise.all([...committers.values()].map((committer) => committer.stop()))
    },
  }
}
