import { once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'

/** The service over HTTP, as any client sees it. Every call throws an Error with the answer where it is not 2xx. */
export interface Api {
  post(path: string, body: unknown): Promise<unknown>
  postLines(path: string, body: string): Promise<unknown>
  /** Posts JSON on kept connections and reads the answer as compressed bytes, which cost the client little. Returns how many. */
  drain(path: string, body: unknown): Promise<number>
}

/** Calls the service at `url` with an API key. */
export function createApi(url: string, key: string): Api {
  const agent = new Agent({ keepAlive: true })
  async function send(path: string, contentType: string, body: string): Promise<unknown> {
    const response = await fetch(`${url}/api/v1${path}`, {
      method: 'POST',
      headers: { 'api-key': key, 'content-type': contentType },
      body,
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`POST ${path} answered ${response.status}: ${text.slice(0, 500)}`)
    return JSON.parse(text)
  }
  return {
    post: (path, body) => send(path, 'application/json', JSON.stringify(body)),
    postLines: (path, body) => send(path, 'application/x-ndjson', body),
    drain: async (path, body) => {
      const sent = request(`${url}/api/v1${path}`, {
        method: 'POST',
        agent,
        headers: { 'api-key': key, 'content-type': 'application/json', 'accept-encoding': 'br' },
      })
      sent.end(JSON.stringify(body))
      const [answer] = (await once(sent, 'response')) as [IncomingMessage]
      let bytes = 0
      for await (const chunk of answer) bytes += (chunk as Buffer).byteLength
      if (answer.statusCode !== 200) throw new Error(`POST ${path} answered ${answer.statusCode}`)
      return bytes
    },
  }
}

/** Address of the project that is measured, below a resource. */
export const PROJECT = 'bench/run'
