/** How many channels of all projects do not deliver at present (DL-12). */
export interface ChannelCounts {
  readonly failing: number
  readonly disabled: number
  readonly paused: number
  /** Epoch milliseconds: since when the one fails that fails longest; null if none does. */
  readonly failingSinceAt: number | null
}
