import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { createDueLanes, type LaneIds } from '../delivery/due-lanes.ts'
import type { Logger } from '../platform/logger.ts'
import { createPreparingClient } from './preparing-client.ts'

/** Tells the workers of other processes that there is something to deliver. */
export interface WakeUp {
  /** Tells them in which lanes, soon; what is asked for meanwhile is told by the same call. Never throws. */
  send(laneIds: LaneIds): void
  /** Calls `onWake` for every call of another process, also after the connection broke, until it is stopped. */
  listen(onWake: (laneIds: LaneIds) => void): void
  stop(): Promise<void>
}

const TOPIC = 'millrace_delivery'
/** A notification is a commit; nobody needs this one to outlive a crash, so it does not wait for the disk. */
const NOTIFY = `select pg_notify('${TOPIC}', $1) from set_config('synchronous_commit', 'off', true)`
/** What PostgreSQL takes is less than 8000 bytes. */
const PAYLOAD_MAX = 7900
/** Between two calls: each costs the database a commit. */
const SEND_EVERY_MS = 5
const RECONNECT_MS = 1000

/**
 * Wake-ups by PostgreSQL's NOTIFY. Not in the transaction that enqueues, whose commit it would queue up behind all
 * others; a call that is lost costs the time to the next sweep. Behind a pooler that hands out its connections by the
 * transaction nothing arrives, and there are only the sweeps.
 */
export function createWakeUp(connectionString: string, log: Logger): WakeUp {
  const PreparingClient = createPreparingClient(connectionString)
  const stopping = new AbortController()
  const working: Promise<void>[] = []
  let sender: Client | null = null
  const due = createDueLanes()
  let sending: Promise<void> | null = null

  async function sendWhileDue(): Promise<void> {
    for (let laneIds = due.take(); laneIds !== undefined && !stopping.signal.aborted; laneIds = due.take()) {
      try {
        sender ??= await connect()
        await sender.query(NOTIFY, [payloadOf(laneIds)])
      } catch (error) {
        log.warn({ err: error }, 'delivery.wake_up_failed')
        void sender?.end().catch(() => undefined)
        sender = null
      }
      await pause(SEND_EVERY_MS)
    }
    sending = null
  }

  async function connect(): Promise<Client> {
    const client = new PreparingClient({ connectionString, application_name: 'millrace', keepAlive: true })
    // A connection that breaks between two statements must not end the process.
    client.on('error', () => {})
    await client.connect()
    return client
  }

  async function listenUntilStopped(onWake: (laneIds: LaneIds) => void): Promise<void> {
    while (!stopping.signal.aborted) {
      const ended = Promise.withResolvers<undefined>()
      let client: Client | null = null
      const stop = () => ended.resolve(undefined)
      stopping.signal.addEventListener('abort', stop)
      try {
        client = await connect()
        client.on('end', stop)
        client.on('notification', ({ payload }) => onWake(lanesOf(payload)))
        await client.query(`listen ${TOPIC}`)
        // What was enqueued while nobody listened.
        onWake(null)
        await ended.promise
      } catch (error) {
        log.warn({ err: error }, 'delivery.wake_up_failed')
      }
      stopping.signal.removeEventListener('abort', stop)
      client?.off('end', stop)
      await client?.end().catch(() => undefined)
      await pause(RECONNECT_MS)
    }
  }

  async function pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: stopping.signal }).catch(() => undefined)
  }

  return {
    send(laneIds) {
      due.add(laneIds)
      sending ??= sendWhileDue()
    },
    listen(onWake) {
      working.push(listenUntilStopped(onWake))
    },
    async stop() {
      stopping.abort()
      await Promise.all([sending, ...working])
      await sender?.end().catch(() => undefined)
    },
  }
}

/** The ids of lanes, with commas; nothing for any lane. */
function payloadOf(laneIds: LaneIds): string {
  const payload = laneIds?.join() ?? ''
  return payload.length > PAYLOAD_MAX ? '' : payload
}

/** Also of a sender of another release: what is no list of ids means any lane. */
function lanesOf(payload = ''): LaneIds {
  return /^\d+(,\d+)*$/.test(payload) ? payload.split(',').map(Number) : null
}
