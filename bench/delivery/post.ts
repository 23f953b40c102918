import { Agent, request } from 'undici'
import { nowMs } from './sink.ts'

const agent = new Agent({ pipelining: 1 })
const TIMEOUT_MS = 5000

/** When the request was begun, of the clock that all processes of a machine share. */
export const SENT_AT_HEADER = 'x-sent-at'

/** What a team would write: posts messages as a JSON array, and throws unless the receiver acknowledges in time. */
export async function post(url: string, messages: readonly string[]): Promise<void> {
  const { statusCode, body } = await request(url, {
    dispatcher: agent,
    method: 'POST',
    headers: { 'content-type': 'application/json', [SENT_AT_HEADER]: String(nowMs()) },
    body: `[${messages.map((data) => `{"data":${data}}`).join(',')}]`,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  await body.dump()
  if (statusCode > 209) throw new Error(`status ${statusCode}`)
}
