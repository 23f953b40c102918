// Runs a processor of the existing SDK offline on recorded logs, and ingests what it answers. See README.md.
import process from 'node:process'
import { createBridge, runBindings } from '@millrace/sdk'
import { TestProcessorServer } from '@sentio/sdk/testing'

const word = (hex) => `0x${hex.padStart(64, '0')}`
const transfer = (blockNumber, index, value) => ({
  address: '0xdac17f958d2ee523a2206206994597c13d831ec7',
  blockHash: word(`b${blockNumber}`),
  blockNumber,
  data: word(value.toString(16)),
  index,
  logIndex: index,
  removed: false,
  topics: ['0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef', word('a11ce'), word('b0b')],
  transactionHash: word(`7${blockNumber}${index}`),
  transactionIndex: 0,
})
const recorded = [
  { number: 100, logs: [transfer(100, 0, 5n), transfer(100, 1, 5000n)] },
  { number: 101, logs: [transfer(101, 0, 2n ** 200n)] },
]

const server = new TestProcessorServer(() => import('./built/processor.js'))
await server.start({ templateInstances: [] })
const { exportConfigs, dbSchema } = await server.getConfig({})

const bridge = createBridge({
  baseUrl: process.env.MILLRACE_URL ?? 'http://127.0.0.1:8080',
  apiKey: process.env.MILLRACE_API_KEY ?? '',
  project: process.env.MILLRACE_PROJECT ?? 'demo/erc20',
  exportConfigs,
  dbSchema,
  onWarning: (warning) => console.warn(warning),
})
// The protocol of a deployed processor: what it asks of its entities is answered by the service.
const processBindings = (requests) =>
  server.service.processBindingsStream(requests, { signal: new AbortController().signal })

for (const { number, logs } of recorded) {
  const time = new Date(1_700_000_000_000 + number * 12_000)
  const bindings = logs.map((log) => {
    const binding = server.eth.buildLogBinding(log)
    binding.data.ethLog.timestamp = time
    return binding
  })
  await bridge.run({ chain: '1', number, time }, ({ answer }) =>
    runBindings(processBindings, bindings, answer),
  )
  await bridge.flush()
}
console.log(`${recorded.length} blocks sent`)
process.exit(0)
