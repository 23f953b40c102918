import { describe, expect, it } from 'vitest'
import { DEFAULT_LIMITS } from './channel.ts'
import { checkHeaders, checkLimits } from './check-channel.ts'

describe('the settings of a channel', () => {
  it.each(['Host', 'content-length', 'Transfer-Encoding', 'webhook-id', 'Webhook-Signature', 'connection'])(
    'refuses the header %s, which the service sets (DL-1)',
    (name) => {
      expect(() => checkHeaders({ [name]: 'x' })).toThrow(`headers: "${name}" is set by the service`)
    },
  )

  it.each([
    ['bad name', 'x'],
    ['', 'x'],
    ['x-a', 'one\r\nx-b: two'],
    ['x-a', 'nul\0'],
    ['x-a', '☕'],
  ])('refuses the header %j with value %j, which would not stay one header (DL-1)', (name, value) => {
    expect(() => checkHeaders({ [name]: value })).toThrow(/^headers: /)
  })

  it('keeps the channel’s own headers, names in lower case (DL-1)', () => {
    expect(checkHeaders({ Authorization: 'Bearer x' })).toEqual({ authorization: 'Bearer x' })
    expect(() => checkHeaders({ 'X-A': '1', 'x-a': '2' })).toThrow('occurs twice')
  })

  it.each([
    [{ maxBatchMessages: 0 }, 'maxBatchMessages: must be an integer from 1 to 500'],
    [{ maxBatchBytes: 1.5 }, 'maxBatchBytes: must be an integer'],
    [{ requestsAtOnce: 0 }, 'requestsAtOnce: must be an integer from 1 to 16'],
    [{ requestsAtOnce: 17 }, 'requestsAtOnce: must be an integer from 1 to 16'],
    [{ requestsAtOnce: 1.5 }, 'requestsAtOnce: must be an integer'],
    [{ backoff: { initialMs: 1, capMs: 1000 } }, 'backoff.initialMs'],
    [
      { backoff: { initialMs: 5000, capMs: 1000 } },
      'backoff.initialMs: must be at most backoff.capMs, which is 1000',
    ],
    [{ deadLetter: { ageMs: -1, attempts: 3 } }, 'deadLetter.ageMs'],
    [{ deadLetter: { ageMs: 1, attempts: 0 } }, 'deadLetter.attempts'],
  ])('refuses limits %j, naming the field (DL-3, DL-5, DL-7)', (limits, message) => {
    expect(() => checkLimits({ ...DEFAULT_LIMITS, ...limits })).toThrow(message)
  })
})
