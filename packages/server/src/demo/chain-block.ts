/** Where in a block a log was emitted, and by which contract. Addresses are in lower case. */
export interface LogPlace {
  readonly transactionHash: string
  readonly transactionIndex: number
  readonly logIndex: number
  readonly address: string
}

/** An ERC-20 `Transfer`; `value` in the token's smallest unit. */
export interface Transfer extends LogPlace {
  readonly kind: 'transfer'
  readonly from: string
  readonly to: string
  readonly value: bigint
}

/** A Uniswap-V3 `Swap`; amounts are signed, from the pool's point of view. */
export interface Swap extends LogPlace {
  readonly kind: 'swap'
  readonly sender: string
  readonly recipient: string
  readonly amount0: bigint
  readonly amount1: bigint
  readonly sqrtPriceX96: bigint
  readonly liquidity: bigint
  readonly tick: number
}

export type ChainEvent = Transfer | Swap

/** What the demo knows of a block. */
export interface ChainBlock {
  /** Chain id as text. */
  readonly chain: string
  readonly number: number
  /** Null where the source does not tell. */
  readonly hash: string | null
  readonly timeSeconds: number
  readonly events: readonly ChainEvent[]
}

/**
 * What a source of blocks says, in order: blocks ascending by number within a chain; a rollback to `blockNumber` before
 * other blocks take the place of those above it; how far the history is; `current` once, when the history is through.
 */
export type Step =
  | { readonly kind: 'block'; readonly block: ChainBlock }
  | { readonly kind: 'rollback'; readonly chain: string; readonly blockNumber: number }
  | { readonly kind: 'progress'; readonly done: number; readonly total: number }
  | { readonly kind: 'current' }

/** The highest blocks of a chain that the service has, highest first. */
export interface KnownBlock {
  readonly number: number
  readonly hash: string
}
export type KnownBlocks = ReadonlyMap<string, readonly KnownBlock[]>

export const ZERO_ADDRESS = '0x0000000000000000000000000000000000000000'
