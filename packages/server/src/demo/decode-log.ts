import { decodeEventLog, parseAbi, toEventSelector, type Hex } from 'viem'
import type { ChainEvent, LogPlace } from './chain-block.ts'

/** A log as nodes give it. */
export interface RawLog extends LogPlace {
  readonly topics: readonly string[]
  readonly data: string
}

const ABI = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick)',
])
const SELECTORS: ReadonlySet<string> = new Set(ABI.map((event) => toEventSelector(event)))
export const TRANSFER_EVENT = ABI[0]

/** The ERC-20 transfer or Uniswap-V3 swap that a log is; null for every other log, such as an ERC-721 transfer. */
export function decodeLog(log: RawLog): ChainEvent | null {
  const [selector, ...rest] = log.topics as readonly Hex[]
  // ERC-721 has the same Transfer selector with the token id as a third topic; data of another length is no ABI's.
  if (selector === undefined || rest.length !== 2 || !SELECTORS.has(selector)) return null
  const place: LogPlace = {
    transactionHash: log.transactionHash,
    transactionIndex: log.transactionIndex,
    logIndex: log.logIndex,
    address: log.address.toLowerCase(),
  }
  try {
    const decoded = decodeEventLog({ abi: ABI, topics: [selector, ...rest], data: log.data as Hex })
    if (decoded.eventName === 'Transfer') {
      const { from, to, value } = decoded.args
      return { kind: 'transfer', ...place, from: from.toLowerCase(), to: to.toLowerCase(), value }
    }
    const { sender, recipient, ...amounts } = decoded.args
    return {
      kind: 'swap',
      ...place,
      sender: sender.toLowerCase(),
      recipient: recipient.toLowerCase(),
      ...amounts,
    }
  } catch {
    // Anybody may emit these topics with any data; such a log is nobody's transfer.
    return null
  }
}
