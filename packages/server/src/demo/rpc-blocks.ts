import { createPublicClient, http, parseAbi, type Address, type PublicClient } from 'viem'
import type { ChainBlock, ChainEvent, KnownBlock, KnownBlocks, Step } from './chain-block.ts'
import { decodeLog, TRANSFER_EVENT } from './decode-log.ts'
import { LBTC, TOKENS, type Token } from './known-contracts.ts'

interface RpcOptions {
  readonly url: string
  /** Address of the ERC-20 contract; null takes a known one of Ethereum mainnet. */
  readonly contract: string | null
  /** First block; null begins some hours back. */
  readonly startBlock: number | null
  readonly known: KnownBlocks
  readonly pollMs: number
  wait(timeMs: number): Promise<void>
  /** Called when the node refuses or is away; the demo goes on trying. */
  onTrouble(message: string): void
}

const DEFAULT_HISTORY_BLOCKS = 2000
const FIRST_RANGE_BLOCKS = 200
const MOST_RANGE_BLOCKS = 2000
/** Hashes are kept this far back: deeper reorganisations do not happen on the chains that are followed. */
const REMEMBERED_BLOCKS = 128

/**
 * Follows the Transfer logs of a contract from the first block that the service does not have. Before every step the
 * remembered hashes are compared with the node's; where they differ, the chain was reorganised and is rolled back.
 */
export async function* rpcBlocks(options: RpcOptions): AsyncGenerator<Step> {
  const client = createPublicClient({ transport: http(options.url, { batch: true, retryCount: 0 }) })
  const persistently = <T>(work: () => Promise<T>) => persist(work, options)
  const chain = String(await persistently(() => client.getChainId()))
  const contract = options.contract ?? (chain === '1' ? LBTC : null)
  if (contract === null) throw new Error(`--contract is needed: chain ${chain} has no default one`)

  // Ascending. Only blocks with logs, and the ends of ranges, are worth remembering.
  let remembered: KnownBlock[] = [...(options.known.get(chain) ?? [])].toReversed()
  const head = await persistently(() => client.getBlockNumber())
  const start = options.startBlock ?? Math.max(0, Number(head) - DEFAULT_HISTORY_BLOCKS)
  let next = Math.max((remembered.at(-1)?.number ?? -1) + 1, start)
  const first = next
  let rangeBlocks = FIRST_RANGE_BLOCKS
  let mostRangeBlocks = MOST_RANGE_BLOCKS
  let isCurrent = false

  for (;;) {
    const fork = await persistently(() => findFork(client, remembered))
    if (fork !== null) {
      remembered = remembered.filter(({ number }) => number <= fork)
      next = fork + 1
      yield { kind: 'rollback', chain, blockNumber: fork }
    }
    const latest = Number(await persistently(() => client.getBlockNumber({ cacheTime: 0 })))
    if (next > latest) {
      if (!isCurrent) yield { kind: 'current' }
      isCurrent = true
      await options.wait(options.pollMs)
      continue
    }
    const to = Math.min(latest, next + rangeBlocks - 1)
    try {
      const range = await readRange(client, chain, contract as Address, next, to)
      for (const block of range.blocks) yield { kind: 'block', block }
      remembered = [...remembered, ...range.known].slice(-REMEMBERED_BLOCKS)
      next = to + 1
      rangeBlocks = Math.min(mostRangeBlocks, rangeBlocks * 2)
      yield { kind: 'progress', done: to - first + 1, total: latest - first + 1 }
    } catch (error) {
      // Nodes limit a range by blocks or by logs, each in its own words; a smaller one works in the end.
      mostRangeBlocks = Math.max(1, rangeBlocks - 1)
      rangeBlocks = Math.max(1, Math.floor(rangeBlocks / 4))
      options.onTrouble(messageOf(error))
      await options.wait(1000)
    }
  }
}

/** The token's symbol and decimals, asked of the contract where they are not known. */
export async function readToken(url: string, contract: string | null): Promise<ReadonlyMap<string, Token>> {
  const address = (contract ?? LBTC).toLowerCase()
  if (TOKENS.has(address)) return TOKENS
  const client = createPublicClient({ transport: http(url, { batch: true }) })
  const abi = parseAbi([
    'function decimals() view returns (uint8)',
    'function symbol() view returns (string)',
  ])
  const at = { address: address as Address, abi }
  const [decimals, symbol] = await Promise.all([
    client.readContract({ ...at, functionName: 'decimals' }).catch(() => 18),
    client.readContract({ ...at, functionName: 'symbol' }).catch(() => ''),
  ])
  return new Map([...TOKENS, [address, { symbol, decimals, largeUnits: 100_000 }]])
}

async function readRange(client: PublicClient, chain: string, address: Address, from: number, to: number) {
  const logs = await client.getLogs({
    address,
    event: TRANSFER_EVENT,
    fromBlock: BigInt(from),
    toBlock: BigInt(to),
  })
  const events = new Map<number, ChainEvent[]>([[to, []]])
  const hashes = new Map<number, string>()
  for (const log of logs) {
    const number = Number(log.blockNumber)
    const event = decodeLog(log)
    hashes.set(number, log.blockHash)
    events.set(number, [...(events.get(number) ?? []), ...(event === null ? [] : [event])])
  }
  const numbers = [...events.keys()].toSorted((a, b) => a - b)
  const headers = await Promise.all(
    numbers.map((number) => client.getBlock({ blockNumber: BigInt(number), includeTransactions: false })),
  )
  const blocks = headers.map((header, index): ChainBlock => {
    const number = numbers[index] ?? 0
    const hash = hashes.get(number)
    if (hash !== undefined && hash !== header.hash) {
      throw new Error(`block ${number} was replaced while it was read`)
    }
    return {
      chain,
      number,
      hash: header.hash,
      timeSeconds: Number(header.timestamp),
      events: events.get(number) ?? [],
    }
  })
  return {
    blocks: blocks.filter((block) => block.events.length > 0),
    known: blocks.map(({ number, hash }) => ({ number, hash: hash ?? '' })),
  }
}

/** The highest remembered block that is still part of the chain; null when the last one is. */
async function findFork(client: PublicClient, remembered: readonly KnownBlock[]): Promise<number | null> {
  for (const [depth, { number, hash }] of remembered.toReversed().entries()) {
    const header = await client
      .getBlock({ blockNumber: BigInt(number), includeTransactions: false })
      .catch((error: unknown) => {
        if (error instanceof Error && error.name === 'BlockNotFoundError') return null
        throw error
      })
    if (header?.hash === hash) return depth === 0 ? null : number
  }
  const [oldest] = remembered
  return oldest === undefined ? null : oldest.number - 1
}

async function persist<T>(work: () => Promise<T>, options: RpcOptions): Promise<T> {
  for (let waitMs = 1000; ; waitMs = Math.min(30_000, waitMs * 2)) {
    try {
      return await work()
    } catch (error) {
      options.onTrouble(messageOf(error))
      await options.wait(waitMs)
    }
  }
}

/** The first line: viem appends the request, its arguments and its own version. */
function messageOf(error: unknown): string {
  return error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error)
}
