import { Agent, request } from 'node:http'
import type { ServiceReport } from './service-process.ts'

/** How an answer came. */
export interface Timing {
  /** Milliseconds to its last byte. */
  readonly ms: number
  readonly bytes: number
  /** The last characters of the answer. */
  readonly tail: string
}

/** The two ways of a statement. Both send with the same client, read every byte and parse none. */
export interface Client {
  /** Posts a body to a path of the service; null gets it. Throws on another status than 200. */
  api(path: string, body: object | null): Promise<Timing>
  /** Sends a statement straight to the engine, which answers with JSON objects. */
  engine(sql: string, database: string): Promise<Timing>
  close(): void
}

const TAIL_BYTES = 400

export function createClient({ url, key, engine }: ServiceReport): Client {
  const agent = new Agent({ keepAlive: true })
  const { socketPath } = engine
  // The type does not say that an agent hands this on to its connections.
  const options = { keepAlive: true, socketPath }
  const engineAgent = socketPath === undefined ? agent : new Agent(options)
  const credentials = Buffer.from(`${engine.username}:${engine.password}`).toString('base64')

  return {
    api: (path, body) =>
      send(agent, `${url}/api/v1${path}`, { 'api-key': key }, body && JSON.stringify(body)),
    engine: (sql, database) => {
      const search = new URLSearchParams({ database, default_format: 'JSONEachRow' })
      return send(
        engineAgent,
        `${engine.url}/?${search.toString()}`,
        { authorization: `Basic ${credentials}` },
        sql,
      )
    },
    close: () => {
      agent.destroy()
      engineAgent.destroy()
    },
  }
}

function send(
  through: Agent,
  address: string,
  headers: Record<string, string>,
  body: string | null,
): Promise<Timing> {
  const startedAt = performance.now()
  return new Promise((resolve, reject) => {
    const sent = request(
      address,
      { method: body === null ? 'GET' : 'POST', agent: through, headers },
      (answer) => {
        let bytes = 0
        let last = Buffer.alloc(0)
        answer.on('data', (chunk: Buffer) => {
          bytes += chunk.length
          last =
            chunk.length >= TAIL_BYTES
              ? Buffer.from(chunk.subarray(-TAIL_BYTES))
              : Buffer.concat([last, chunk])
        })
        answer.on('error', reject)
        answer.on('end', () => {
          const tail = last.subarray(-TAIL_BYTES).toString()
          if (answer.statusCode === 200) resolve({ ms: performance.now() - startedAt, bytes, tail })
          else reject(new Error(`${address}: ${answer.statusCode} ${tail}`))
        })
      },
    )
    sent.on('error', reject)
    sent.end(body ?? undefined)
  })
}
