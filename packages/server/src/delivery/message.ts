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
