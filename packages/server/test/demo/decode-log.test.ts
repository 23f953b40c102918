import { describe, expect, it } from 'vitest'
import { decodeLog, type RawLog } from '../../src/demo/decode-log.ts'

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const SWAP = '0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67'
const ALICE = '0x000000000000000000000000aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'
const BOB = '0x000000000000000000000000bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb'
const word = (value: bigint) => BigInt.asUintN(256, value).toString(16).padStart(64, '0')

const log = (topics: readonly string[], data: string): RawLog => ({
  transactionHash: '0x01',
  transactionIndex: 2,
  logIndex: 3,
  address: '0xCCCCcccccccccccccccccccccccccccccccccccc',
  topics,
  data,
})

describe('decodeLog', () => {
  it('reads an ERC-20 transfer with all 256 bits of its value (IN-6)', () => {
    expect(decodeLog(log([TRANSFER, ALICE, BOB], `0x${word(2n ** 256n - 1n)}`))).toEqual({
      kind: 'transfer',
      transactionHash: '0x01',
      transactionIndex: 2,
      logIndex: 3,
      address: '0xcccccccccccccccccccccccccccccccccccccccc',
      from: `0x${'a'.repeat(40)}`,
      to: `0x${'b'.repeat(40)}`,
      value: 2n ** 256n - 1n,
    })
  })

  it('reads a Uniswap-V3 swap with its signed amounts', () => {
    const data = `0x${[-5n, 7n, 2n ** 96n, 11n, -197_000n].map(word).join('')}`
    expect(decodeLog(log([SWAP, ALICE, BOB], data))).toMatchObject({
      kind: 'swap',
      sender: `0x${'a'.repeat(40)}`,
      recipient: `0x${'b'.repeat(40)}`,
      amount0: -5n,
      amount1: 7n,
      sqrtPriceX96: 2n ** 96n,
      liquidity: 11n,
      tick: -197_000,
    })
  })

  it.each([
    ['an ERC-721 transfer, whose token id is a topic', [TRANSFER, ALICE, BOB, ALICE], '0x'],
    ['a transfer without indexed addresses', [TRANSFER], `0x${word(1n)}${word(2n)}${word(3n)}`],
    ['a transfer whose data is too short', [TRANSFER, ALICE, BOB], '0x01'],
    ['a swap whose data is a transfer’s', [SWAP, ALICE, BOB], `0x${word(1n)}`],
    ['another event', [ALICE, ALICE, BOB], `0x${word(1n)}`],
    ['a log without topics', [], '0x'],
  ])('takes %s for nothing', (_name, topics, data) => {
    expect(decodeLog(log(topics, data))).toBeNull()
  })
})
