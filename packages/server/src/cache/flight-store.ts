/** Who computes what, over all instances (CA-4). Keys are SHA-256 hashes, times epoch milliseconds. */
export interface FlightStore {
  /**
   * Claims a key until `until`. False when another instance has it, or when it is paused after a failure and this is only for a refresh.
   */
  claim(keyHash: Uint8Array, claim: FlightClaim): Promise<boolean>
  /** Holds on to a key that the owner still computes. */
  renew(keyHash: Uint8Array, owner: string, until: number): Promise<void>
  /** Gives a key back. */
  release(keyHash: Uint8Array, owner: string): Promise<void>
  /** Gives a key back after a failure: nobody refreshes it until then. */
  pause(keyHash: Uint8Array, owner: string, until: number): Promise<void>
  /** Drops what ended before an instant. */
  expire(before: number): Promise<void>
}

export interface FlightClaim {
  readonly owner: string
  readonly now: number
  readonly until: number
  readonly isRefresh: boolean
}
