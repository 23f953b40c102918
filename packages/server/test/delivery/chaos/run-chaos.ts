import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { createChannelStore } from '../../../src/database/channel-store.ts'
import type { OpenDatabase } from '../../../src/database/database.ts'
import { createDeadLetterStore } from '../../../src/database/dead-letter-store.ts'
import { DEFAULT_LIMITS } from '../../../src/delivery/channel.ts'
import { startChaoticReceiver } from './chaotic-receiver.ts'
import type { IngestOrder } from './ingest-process.ts'
import { startKillable, type KillableProcess } from './killable-process.ts'
import { createOracle, type Oracle, type Place } from './oracle.ts'

export interface ChaosOptions {
  readonly database: OpenDatabase & { readonly location: string }
  /** Processes that are killed with SIGKILL, all in all. */
  readonly kills: number
  readonly workers: number
  /** What can be done to the database's server; null where the database is a file. */
  readonly server: {
    /** Breaks all connections to it. */
    breakConnections(): Promise<void>
    /** Ends one of its processes with SIGKILL, so that it loses its memory and recovers from its log. */
    crash(): Promise<void>
    /** Ends its main process with SIGKILL, and starts it again. */
    crashWhole(): Promise<void>
  } | null
  /** In [0, 1). */
  readonly random: () => number
  readonly progress?: (text: string) => void
}

/** What a run came to. */
export interface ChaosReport {
  readonly faults: readonly string[]
  /** Newest revisions that neither the receiver nor a dead letter had when the queue was empty. */
  readonly lost: readonly string[]
  /** What the receiver lacked after all dead letters were sent again. */
  readonly different: readonly string[]
  readonly kills: number
  readonly stored: number
  readonly received: number
  readonly repeated: number
  readonly calls: number
  readonly letters: number
  readonly receiverFaults: Readonly<Record<string, number>>
}

const PROJECT_ID = 1
const CHANNELS = ['plain', 'small', 'retracting', 'mortal', 'wide'] as const
const LEASE_MS = 2000
const TIMEOUT_MS = 300
const MAX_BLOCKS = 12
const PATIENCE_MS = 150_000
/** However slow the machine is, a run hears of more messages than these, or it says little. */
const RECEIVED_MIN = 100

/** Ingest, workers, database and receiver fail at random; at the end the receiver must agree with the oracle (DL-5, DL-6, DL-8, DL-13). */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const { database, random } = options
  const { db, location } = database
  const oracle = createOracle()
  const receiver = await startChaoticReceiver(oracle.receive, random)
  await createChannels(options, receiver.url)
  const workers = Array.from({ length: options.workers }, () =>
    startKillable('worker-process.ts', [location, String(LEASE_MS), String(TIMEOUT_MS)]),
  )
  const ingest = startKillable('ingest-process.ts', [location])
  const letters = createDeadLetterStore(db)
  const feeders = CHANNELS.map((channel) => createFeeder(channel, oracle, ingest, random))
  const feedingEnds = new AbortController()
  try {
    receiver.faultShare = 0.4
    const feeding = feeders.map(async (feeder) => {
      while (!feedingEnds.signal.aborted) await feeder.step()
    })
    const killed = await disturb(options, workers, ingest)
    await until(async () => oracle.received > RECEIVED_MIN)
    feedingEnds.abort()
    await Promise.all(feeding)
    receiver.faultShare = 0
    // Orphans are announced when the chain has passed them.
    for (const feeder of feeders) await feeder.pass()
    await until(async () => (await waiting(db)) === 0)
    // Once more for what was under way when it was rolled back.
    for (const feeder of feeders) await feeder.pass()
    await until(async () => (await waiting(db)) === 0)
    const dead = await deadPlaces(db)
    const lost = oracle
      .missing()
      .filter(({ place, order }) => dead.get(place) !== order)
      .map(({ place, order }) => `${place}@${order}`)
    const count = await letters.requestRedrive(PROJECT_ID, { ids: null, channel: null }, Date.now())
    await until(async () => {
      const { messages, lanes, dead } = await countUnfinished(db)
      return messages + lanes + dead === 0
    })
    return {
      faults: oracle.faults,
      lost,
      different: [
        ...oracle.missing().map(({ place, order }) => `${place}@${order}`),
        ...oracle.unretracted('retracting').map((place) => `${place} not retracted`),
      ],
      kills: killed,
      stored: feeders.reduce((sum, feeder) => sum + feeder.stored(), 0),
      received: oracle.received,
      repeated: oracle.repeated,
      calls: receiver.calls,
      letters: count,
      receiverFaults: Object.fromEntries(receiver.faults),
    }
  } finally {
    feedingEnds.abort()
    await Promise.all([ingest, ...workers].map((process) => process.end()))
    await receiver.close()
  }
}

async function createChannels({ database }: ChaosOptions, url: (channel: string) => string): Promise<void> {
  const channels = createChannelStore(database.db)
  const limits = { ...DEFAULT_LIMITS, maxBatchMessages: 20, backoff: { initialMs: 20, capMs: 200 } }
  const forever = { ageMs: 24 * 3_600_000, attempts: 1000 }
  for (const name of CHANNELS) {
    const change = {
      url: url(name),
      secret: 'whsec_AAAA',
      isRetracting: name === 'retracting',
      limits: {
        ...limits,
        ...(name === 'small' ? { maxBatchMessages: 1 } : {}),
        ...(name === 'wide' ? { maxBatchMessages: 4, requestsAtOnce: 4 } : {}),
        deadLetter: name === 'mortal' ? { ageMs: 0, attempts: 2 } : forever,
      },
    }
    await channels.create(PROJECT_ID, name, change, Date.now())
  }
}

/** Sends the blocks of one chain to one channel, with rollbacks and new versions, each order until it is stored. */
function createFeeder(channel: string, oracle: Oracle, ingest: KillableProcess, random: () => number) {
  const chain = `chain of ${channel}`
  let version = 1
  let head = 0
  let stored = 0
  const below = (limit: number) => Math.floor(random() * limit)
  const exportOf = (place: Place, isChanged: boolean) => ({
    block: place.block,
    position: place.position,
    data: (isChanged ? null : oracle.current(place)) ?? oracle.revise(place),
  })

  async function store(aboveBlock: number | null, exports: IngestOrder['exports']): Promise<void> {
    const order = { projectId: PROJECT_ID, version, chain, channel, aboveBlock, exports, head }
    while (!(await carryOut(ingest, order))) await pause(20)
    stored += exports.length
  }

  return {
    stored: () => stored,
    async step(): Promise<void> {
      const chance = random()
      if (chance < 0.12 && head > 1) {
        const aboveBlock = Math.max(0, head - 1 - below(3))
        const again = oracle.places(channel, aboveBlock).map((place) => ({ place, fate: random() }))
        for (const { place, fate } of again) if (fate < 0.3) oracle.remove(place)
        await store(
          aboveBlock,
          again.filter(({ fate }) => fate >= 0.3).map(({ place, fate }) => exportOf(place, fate > 0.6)),
        )
      } else if (chance < 0.15) {
        version += 1
        await store(
          null,
          oracle.places(channel, -1).map((place) => exportOf(place, random() < 0.5)),
        )
      } else {
        head = head >= MAX_BLOCKS ? head : head + 1
        const block = 1 + below(head)
        const positions = new Set(Array.from({ length: 1 + below(30) }, () => below(70)))
        await store(
          null,
          [...positions].map((position) => exportOf({ channel, block, position }, true)),
        )
      }
      await pause(10 + below(40))
    },
    async pass(): Promise<void> {
      head += 1
      await store(null, [])
    },
  }
}

let orders = 0

/** False when it is not known to be stored: then it is to be sent again, which changes nothing if it was. */
async function carryOut(ingest: KillableProcess, order: Omit<IngestOrder, 'id'>): Promise<boolean> {
  const child = await ingest.current()
  orders += 1
  const id = orders
  return new Promise((resolve) => {
    const end = (isStored: boolean) => {
      child.off('message', onMessage)
      child.off('exit', onExit)
      resolve(isStored)
    }
    const onExit = () => end(false)
    const onMessage = (answer: { readonly id: number; readonly isStored: boolean }) => {
      if (answer.id === id) end(answer.isStored)
    }
    child.on('message', onMessage)
    child.on('exit', onExit)
    if (child.exitCode !== null || child.signalCode !== null || !child.connected) end(false)
    else child.send({ ...order, id }, (error) => error && end(false))
  })
}

/** Kills processes, breaks connections and sets clocks until all kills are done; answers how many there were. */
async function disturb(
  { kills, random, server, progress }: ChaosOptions,
  workers: readonly KillableProcess[],
  ingest: KillableProcess,
): Promise<number> {
  let killed = 0
  let crashed = 0
  while (killed < kills) {
    await pause(50 + random() * 600)
    const worker = workers[Math.floor(random() * workers.length)]
    const chance = random()
    // Early ones for certain, so that a short run has both as well.
    if (server !== null && (crashed < 2 || chance < 0.1)) {
      await (crashed % 2 === 0 ? server.crash() : server.crashWhole())
      crashed += 1
      killed += 1
    } else if (chance < 0.6) {
      await worker?.restart('SIGKILL')
      killed += 1
    } else if (chance < 0.8) {
      await ingest.restart('SIGKILL')
      killed += 1
    } else if (chance < 0.87) {
      await worker?.restart('SIGTERM')
    } else if (chance < 0.94) {
      const jumpMs = (random() < 0.5 ? -1 : 1) * Math.floor(random() * 600_000)
      ;(await worker?.current())?.send({ jumpMs })
    } else {
      await server?.breakConnections().catch(() => undefined)
    }
    progress?.(`${killed} of ${kills} kills`)
  }
  return killed
}

/** Messages that wait, and lanes that somebody serves: what was withdrawn may still be under way. */
async function waiting(db: OpenDatabase['db']): Promise<number> {
  const { messages, lanes } = await countUnfinished(db)
  return messages + lanes
}

/** By one statement, so that nothing moves from one of them to another while they are counted. */
async function countUnfinished(db: OpenDatabase['db']) {
  const { rows } = await sql<{ messages: number; lanes: number; dead: number }>`
    select (select count(*) from webhook_message) as messages,
      (select count(*) from webhook_lane_state where lease_until_at > ${Date.now()}) as lanes,
      (select count(*) from webhook_dead_message where is_superseded = 0) as dead`.execute(db)
  const [counts] = rows
  if (counts === undefined) throw new Error('nothing was counted')
  return counts
}

/** The revisions that lie in dead letters, by place. */
async function deadPlaces(db: OpenDatabase['db']): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom('webhook_dead_message')
    .select('body')
    .where('is_superseded', '=', 0)
    .execute()
  return new Map(
    rows.map(({ body }) => {
      const { data } = JSON.parse(Buffer.from(body).toString()) as { data: { place: string; order: number } }
      return [data.place, data.order]
    }),
  )
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  while (!(await isTrue().catch(() => false))) {
    if (performance.now() > deadline)
      throw new Error(`what was waited for did not come about in ${PATIENCE_MS} ms`)
    await pause(50)
  }
}
