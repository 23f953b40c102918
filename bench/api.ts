/** The service over HTTP, as any client sees it. Every call throws an Error with the answer where it is not 2xx. */
export interface Api {
  post(path: string, body: unknown): Promise<unknown>
  postLines(path: string, body: string): Promise<unknown>
}

/** Calls the service at `url` with an API key. */
export function createApi(url: string, key: string): Api {
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
  }
}

/** Address of the project that is measured, below a resource. */
export const PROJECT = 'bench/run'
