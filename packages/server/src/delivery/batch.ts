import { createHash } from 'node:crypto'
import type { QueuedMessage } from './lane.ts'

const OPENING_BRACKET = Buffer.from('[')
const COMMA = Buffer.from(',')
const CLOSING_BRACKET = Buffer.from(']')

/** The JSON array of serialised messages, whose bytes are not touched (DL-1). */
export function joinBodies(bodies: readonly Uint8Array[]): Uint8Array {
  const parts: Uint8Array[] = [OPENING_BRACKET]
  for (const [index, body] of bodies.entries()) {
    if (index > 0) parts.push(COMMA)
    parts.push(body)
  }
  parts.push(CLOSING_BRACKET)
  return Buffer.concat(parts)
}

/**
 * The `webhook-id` of a batch: the same for the same revisions of the same messages, another when any was replaced,
 * added or withdrawn, because receivers that remember ids would else discard the correction (DL-1).
 */
export function webhookId(laneId: number, messages: readonly QueuedMessage[]): string {
  const content = [laneId, ...messages.map(({ seq, hash }) => `${seq}:${hash}`)].join(':')
  return `msg_${createHash('sha256').update(content).digest('base64url').slice(0, 27)}`
}
