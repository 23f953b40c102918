import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const hex = (value: number) => `0x${value.toString(16)}`
const topic = (digit: string) => `0x${digit.repeat(40).padStart(64, '0')}`
const hash = (text: string) => `0x${createHash('sha256').update(text).digest('hex')}`

interface Call {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

/** An Ethereum node on a real socket whose chain a test writes: a transfer of `value` in every block of `transfers`. */
export async function startFakeNode(contract: string) {
  let head = 0
  const forks = new Map<number, string>()
  const transfers = new Map<number, bigint>()
  let mostLogBlocks = Infinity
  const hashOf = (number: number) => hash(`${number}/${forks.get(number) ?? ''}`)

  const header = (number: number) =>
    number > head
      ? null
      : {
          number: hex(number),
          hash: hashOf(number),
          parentHash: hashOf(number - 1),
          timestamp: hex(1_700_000_000 + number * 12),
        }

  function logs({ fromBlock, toBlock }: { fromBlock: string; toBlock: string }) {
    const [from, to] = [Number(fromBlock), Number(toBlock)]
    if (to - from + 1 > mostLogBlocks) throw new Error('block range is too large')
    return [...transfers]
      .filter(([number]) => number >= from && number <= to)
      .map(([number, value]) => ({
        address: contract,
        topics: [TRANSFER, topic('a'), topic('b')],
        data: `0x${value.toString(16).padStart(64, '0')}`,
        blockNumber: hex(number),
        blockHash: hashOf(number),
        transactionHash: hash(`transaction ${number}`),
        transactionIndex: '0x0',
        logIndex: '0x1',
        removed: false,
      }))
  }

  function answer({ id, method, params }: Call) {
    const methods: Readonly<Record<string, () => unknown>> = {
      eth_chainId: () => hex(5),
      eth_blockNumber: () => hex(head),
      eth_getBlockByNumber: () => header(Number(params[0])),
      eth_getLogs: () => logs(params[0] as { fromBlock: string; toBlock: string }),
    }
    try {
      return { jsonrpc: '2.0', id, result: methods[method]?.() ?? null }
    } catch (error) {
      return { jsonrpc: '2.0', id, error: { code: -32_005, message: (error as Error).message } }
    }
  }

  const server = createServer((message, response) => {
    let body = ''
    message.on('data', (chunk: Buffer) => (body += chunk.toString()))
    message.on('end', () => {
      const calls = JSON.parse(body) as Call | readonly Call[]
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(Array.isArray(calls) ? calls.map(answer) : answer(calls as Call)))
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hashOf,
    /** Blocks up to `number` exist; those named hold a transfer. */
    grow(number: number, values: Readonly<Record<number, bigint>> = {}) {
      head = number
      for (const [block, value] of Object.entries(values)) transfers.set(Number(block), value)
    },
    /** Other blocks take the place of those from `number` on, without transfers. */
    reorganise(number: number, name: string) {
      for (let each = number; each <= head; each++) {
        forks.set(each, name)
        transfers.delete(each)
      }
    },
    limitLogs(blocks: number) {
      mostLogBlocks = blocks
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}
