import { createHash } from 'node:crypto'
import { ZERO_ADDRESS, type ChainBlock, type ChainEvent, type LogPlace } from './chain-block.ts'
import { SIMULATED_POOL, SIMULATED_TOKEN } from './known-contracts.ts'

/** The chain id that development chains use. */
export const SIMULATED_CHAIN = '31337'
/** A block may be produced every so many seconds; its number is its time divided by this. */
export const SLOT_SECONDS = 5
/** In the past only every so many slots hold a block: one every ten minutes. */
export const HISTORY_SLOTS = 120
/** On average one slot in so many reorganises the chain. */
const REORGANISATION_SLOTS = 24
const HOLDERS = 40
const DAY_SECONDS = 86_400

/** The block of slot `number`, always the same for equal arguments. `fork` tells competing blocks of one slot apart. */
export function simulatedBlock(seed: string, number: number, fork = 0): ChainBlock {
  const random = randomOf(`${seed}/${number}/${fork}`)
  const timeSeconds = number * SLOT_SECONDS
  const isHistory = number % HISTORY_SLOTS === 0
  const transfers = isHistory ? 3 + Math.floor(random() * 6) : Math.floor(random() * 2)
  const hasSwap = random() < (isHistory ? 0.7 : 0.3)
  const events: ChainEvent[] = []
  const nextPlace = (address: string): LogPlace => ({
    transactionHash: hash(`${seed}/${number}/${fork}/transaction/${events.length}`),
    transactionIndex: events.length,
    logIndex: events.length * 3,
    address,
  })
  for (let index = 0; index < transfers; index++) {
    const place = nextPlace(SIMULATED_TOKEN)
    const draw = random()
    const from = draw < 0.12 ? ZERO_ADDRESS : holder(seed, random())
    const to = draw > 0.92 ? ZERO_ADDRESS : holder(seed, random())
    events.push({ kind: 'transfer', ...place, from, to, value: amount(random, timeSeconds) })
  }
  if (hasSwap) events.push(swap(seed, nextPlace(SIMULATED_POOL), timeSeconds, random))
  return {
    chain: SIMULATED_CHAIN,
    number,
    hash: hash(`${seed}/${number}/${fork}/block`),
    timeSeconds,
    events,
  }
}

/** How many blocks a reorganisation at slot `number` replaces; 0 when there is none. */
export function reorganisationDepth(seed: string, number: number): number {
  const random = randomOf(`${seed}/${number}/reorganisation`)
  return random() < 1 / REORGANISATION_SLOTS ? 1 + Math.floor(random() * 3) : 0
}

/** Most amounts are small and a few very large, more by day than by night; all 18 decimals are used. */
function amount(random: () => number, timeSeconds: number): bigint {
  const daylight = 1 + 0.5 * Math.sin((2 * Math.PI * timeSeconds) / DAY_SECONDS)
  const units = Math.exp(4 + 6 * random() ** 2 + 2 * random()) * daylight
  return BigInt(Math.floor(units * 1e6)) * 10n ** 12n + BigInt(Math.floor(random() * 1e12))
}

function swap(seed: string, place: LogPlace, timeSeconds: number, random: () => number): ChainEvent {
  const days = timeSeconds / DAY_SECONDS
  const price =
    3000 +
    300 * Math.sin((2 * Math.PI * days) / 9) +
    60 * Math.sin(2 * Math.PI * days) +
    20 * (random() - 0.5)
  const base = BigInt(Math.floor((0.05 + 5 * random() ** 3) * 1e15)) * 1000n
  const quote = (base * BigInt(Math.round(price * 1e6))) / 10n ** 18n
  const isBuy = random() < 0.5
  const ratio = 1e12 / price
  return {
    kind: 'swap',
    ...place,
    sender: holder(seed, random()),
    recipient: holder(seed, random()),
    amount0: isBuy ? quote : -quote,
    amount1: isBuy ? -base : base,
    sqrtPriceX96: BigInt(Math.floor(Math.sqrt(ratio) * 2 ** 96)),
    liquidity: 10n ** 19n + BigInt(Math.floor(random() * 1e15)),
    tick: Math.floor(Math.log(ratio) / Math.log(1.0001)),
  }
}

function holder(seed: string, draw: number): string {
  return hash(`${seed}/holder/${Math.floor(draw ** 2 * HOLDERS)}`).slice(0, 42)
}

function hash(text: string): string {
  return `0x${createHash('sha256').update(text).digest('hex')}`
}

/** A stream of numbers in [0, 1) that depends on `text` alone (mulberry32 over a hash). */
function randomOf(text: string): () => number {
  let state = createHash('sha256').update(text).digest().readUInt32LE(0)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
