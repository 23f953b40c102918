import { invalidArgument } from '../platform/errors.ts'

/** An exported message on its way into a channel's queue; `data` is the JSON that the processor passed in, byte for byte (DL-1). */
export interface ExportedMessage {
  readonly channel: string
  readonly exportName: string
  readonly chain: string
  readonly blockNumber: number
  /** Place among the exports of its block and channel (EV-1); null is the order of arrival. */
  readonly position: number | null
  readonly timestampMicros: number
  /** Processor version. */
  readonly version: number
  readonly data: Uint8Array
}

/** The largest `data` of one message, in bytes, when nothing else is configured. */
export const MAX_MESSAGE_BYTES = 5 * 1024 * 1024

/** Refuses a message whose `data` is larger than a request to a receiver should be; for use before anything is stored. */
export function checkMessageSize(message: ExportedMessage, maxBytes: number = MAX_MESSAGE_BYTES): void {
  if (message.data.byteLength <= maxBytes) return
  throw invalidArgument(
    `data: the export "${message.exportName}" to channel "${message.channel}" has ${message.data.byteLength} bytes; at most ${maxBytes} are allowed`,
  )
}

/** The element of the array that a receiver gets (interface 2.6), with `data` as it came. */
export function serializeMessage(message: ExportedMessage, eventId: number): Uint8Array {
  const head =
    `{"export_name":${JSON.stringify(message.exportName)},"event_id":${eventId},` +
    `"timestamp_micros":${message.timestampMicros},"version":${message.version},"data":`
  return Buffer.concat([Buffer.from(head), message.data, CLOSING_BRACE])
}

const CLOSING_BRACE = Buffer.from('}')
