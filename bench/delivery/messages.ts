import type { Outgoing } from './contender.ts'
import { nowMs } from './sink.ts'

/** A message of about 370 bytes, as a transfer looks; it knows when it was enqueued. */
export function messageFor(channel: number, n: number, at: number = nowMs()): Outgoing {
  const hash = (n * 2_654_435_761) % 2 ** 32
  const hex = hash.toString(16).padStart(8, '0')
  const data = JSON.stringify({
    n,
    at,
    from: `0x${hex.repeat(5)}`,
    to: `0x${hex.split('').toReversed().join('').repeat(5)}`,
    token: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
    transaction: `0x${hex.repeat(8)}`,
    amount: `${hash}000000000`,
    log_index: n % 300,
  })
  return { channel, n, data }
}
