import { once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'
import { summarise, type Latency } from '../latency.ts'

/** How samples are sent. */
export interface Sending {
  readonly samples: number
  readonly batch: number
  readonly connections: number
  /** Samples a second; 0 sends as fast as answers come. */
  readonly pace: number
}

export interface Sent {
  readonly perSecond: number
  readonly latency: Latency
}

/** Posts a body on a kept connection. Throws where the answer is not 2xx. */
export type Post = (path: string, body: string) => Promise<void>

export function createPost(url: string, headers: Readonly<Record<string, string>> = {}): Post {
  const agent = new Agent({ keepAlive: true })
  return async (path, body) => {
    const sent = request(`${url}${path}`, { method: 'POST', agent, headers })
    sent.end(body)
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    const chunks: Buffer[] = []
    for await (const chunk of answer) chunks.push(chunk as Buffer)
    const status = answer.statusCode ?? 0
    if (status < 200 || status > 299)
      throw new Error(`POST ${path} answered ${status}: ${Buffer.concat(chunks).toString().slice(0, 500)}`)
  }
}

/** Sends all samples in batches and waits for the last answer. */
export async function sendSamples(
  { samples, batch, connections, pace }: Sending,
  post: (first: number, count: number) => Promise<void>,
  progress: (sent: number) => void,
): Promise<Sent> {
  const durations: number[] = []
  const startedAt = performance.now()
  let next = 0
  let answered = 0
  async function connection(): Promise<void> {
    while (next < samples) {
      const first = next
      const count = Math.min(batch, samples - first)
      next += count
      const dueMs = pace === 0 ? 0 : (first / pace) * 1000 - (performance.now() - startedAt)
      if (dueMs > 0) await new Promise((resolve) => setTimeout(resolve, dueMs))
      const sentAt = performance.now()
      await post(first, count)
      durations.push(performance.now() - sentAt)
      answered += count
      progress(answered)
    }
  }
  await Promise.all(Array.from({ length: connections }, connection))
  const seconds = (performance.now() - startedAt) / 1000
  return { perSecond: samples / seconds, latency: summarise(durations) }
}
