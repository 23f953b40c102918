/** What is worth knowing of a token. `largeUnits`: transfers of at least so many whole tokens are exported. */
export interface Token {
  readonly symbol: string
  readonly decimals: number
  readonly largeUnits: number
}

/** A pool of `quote` (token 0) and `base` (token 1); its price is units of quote for one base. */
export interface Pool {
  readonly name: string
  readonly quoteDecimals: number
  readonly baseDecimals: number
}

export const SIMULATED_TOKEN = '0x00000000000000000000000000000000000000a1'
export const SIMULATED_POOL = '0x00000000000000000000000000000000000000b2'
export const LBTC = '0x8236a87084f8b84306f72007f36f2618a5634494'

/** Tokens by address. The decimals were read from the contracts. */
export const TOKENS: ReadonlyMap<string, Token> = new Map([
  [SIMULATED_TOKEN, { symbol: 'DEMO', decimals: 18, largeUnits: 80_000 }],
  [LBTC, { symbol: 'LBTC', decimals: 8, largeUnits: 50 }],
  ['0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48', { symbol: 'USDC', decimals: 6, largeUnits: 1_000_000 }],
  ['0xdac17f958d2ee523a2206206994597c13d831ec7', { symbol: 'USDT', decimals: 6, largeUnits: 1_000_000 }],
  ['0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2', { symbol: 'WETH', decimals: 18, largeUnits: 500 }],
])

/** Pools by address, all of USDC and WETH. */
export const POOLS: ReadonlyMap<string, Pool> = new Map([
  [SIMULATED_POOL, { name: 'USDC/WETH', quoteDecimals: 6, baseDecimals: 18 }],
  [
    '0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640',
    { name: 'USDC/WETH 0.05%', quoteDecimals: 6, baseDecimals: 18 },
  ],
  [
    '0x8ad599c3a0ff1de082011efddc58f1908eb6e6d8',
    { name: 'USDC/WETH 0.3%', quoteDecimals: 6, baseDecimals: 18 },
  ],
])
