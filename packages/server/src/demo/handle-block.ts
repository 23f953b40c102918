import { Counter, Exporter, Gauge, type Context } from '@millrace/sdk'
import { formatUnits } from 'viem'
import { ZERO_ADDRESS, type ChainBlock, type Swap, type Transfer } from './chain-block.ts'
import { CHANNELS } from './channels.ts'
import { POOLS, TOKENS, type Token } from './known-contracts.ts'

const mintSum = Gauge.register('mint_sum')
const burnSum = Gauge.register('burn_sum')
const price = Gauge.register('price')
const transferTotal = Counter.register('transfer_total')
const largeTransfer = Exporter.register('large_transfer', CHANNELS.accepted)
const refusedTransfer = Exporter.register('large_transfer', CHANNELS.refused)

const UNKNOWN_TOKEN: Token = { symbol: '', decimals: 18, largeUnits: Infinity }
/** Of so many large transfers one goes to the refusing channel too, chosen by its transaction's hash. */
const REFUSED_ONE_IN = 32

/** Emits the metrics, events and exports of one block: what a processor's author writes. */
export function handleBlock(
  context: Context,
  block: ChainBlock,
  tokens: ReadonlyMap<string, Token> = TOKENS,
): void {
  const totals = new Map<string, Totals>()
  for (const event of block.events) {
    const { transactionHash, transactionIndex, logIndex, address } = event
    const token = tokens.get(address) ?? UNKNOWN_TOKEN
    const contract = event.kind === 'transfer' ? token.symbol : (POOLS.get(address)?.name ?? '')
    const place = { transactionHash, transactionIndex, logIndex, address }
    const log = context.at(contract === '' ? place : { ...place, contract })
    if (event.kind === 'swap') {
      handleSwap(log, event)
    } else {
      handleTransfer(log, event, token, block)
      count(totals, event)
    }
  }
  for (const [address, sums] of totals) recordTotals(context, address, sums, tokens.get(address))
}

interface Totals {
  readonly counts: Record<'mint' | 'burn' | 'transfer', number>
  minted: bigint
  burned: bigint
}

function count(totals: Map<string, Totals>, { address, from, to, value }: Transfer): void {
  const sums = totals.get(address) ?? {
    counts: { mint: 0, burn: 0, transfer: 0 },
    minted: 0n,
    burned: 0n,
  }
  totals.set(address, sums)
  if (from === ZERO_ADDRESS) {
    sums.counts.mint += 1
    sums.minted += value
  } else if (to === ZERO_ADDRESS) {
    sums.counts.burn += 1
    sums.burned += value
  } else {
    sums.counts.transfer += 1
  }
}

/** One sample a block and token, so that sums over windows are sums of amounts. */
function recordTotals(context: Context, address: string, sums: Totals, token = UNKNOWN_TOKEN): void {
  const place = context.at(token.symbol === '' ? { address } : { address, contract: token.symbol })
  if (sums.counts.mint > 0) mintSum.record(place, amountOf(sums.minted, token))
  if (sums.counts.burn > 0) burnSum.record(place, amountOf(sums.burned, token))
  for (const [kind, number] of Object.entries(sums.counts)) {
    if (number > 0) transferTotal.add(place, number, { kind })
  }
}

/** The ingest API takes decimals of up to 46 digits before the point; worthless tokens mint more. */
function amountOf(value: bigint, token: Token) {
  const text = formatUnits(value, token.decimals)
  return text.split('.', 1).every((digits) => digits.length > 46) ? Number(text) : { toFixed: () => text }
}

function handleTransfer(log: Context, { from, to, value }: Transfer, token: Token, block: ChainBlock): void {
  log.eventLogger.emit('Transfer', { distinctId: from, from, to, value })
  if (Number(formatUnits(value, token.decimals)) < token.largeUnits) return
  const { transactionHash, logIndex } = log.place
  const data = {
    token: token.symbol,
    amount: formatUnits(value, token.decimals),
    value,
    from,
    to,
    block: block.number,
    transactionHash,
    logIndex,
  }
  largeTransfer.emit(log, data)
  // Deterministic, so that a block that is processed again exports the same.
  const lot = Number.parseInt((transactionHash ?? '').slice(-8), 16)
  if (lot % REFUSED_ONE_IN === 0) refusedTransfer.emit(log, data)
}

function handleSwap(log: Context, swap: Swap): void {
  const { sender, recipient, amount0, amount1, sqrtPriceX96, liquidity, tick } = swap
  log.eventLogger.emit('Swap', {
    distinctId: sender,
    sender,
    recipient,
    amount0,
    amount1,
    sqrtPriceX96,
    liquidity,
    tick,
  })
  const pool = POOLS.get(swap.address)
  if (pool !== undefined) {
    // The pool keeps sqrt(token1/token0) in smallest units as a Q64.96 number.
    const ratio = (Number(sqrtPriceX96) / 2 ** 96) ** 2
    const quotePerBase = 10 ** (pool.baseDecimals - pool.quoteDecimals) / ratio
    if (Number.isFinite(quotePerBase)) price.record(log, quotePerBase)
  }
}
