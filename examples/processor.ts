// Sends ten blocks of a made-up chain: a counter, a gauge, an event log, an entity and an export.
//   MILLRACE_API_KEY=mr_… node examples/processor.ts
import { Counter, createProcessor, Entity, Exporter, fileSpool, Gauge } from '@millrace/sdk'

const transfers = Counter.register('example_transfers')
const supply = Gauge.register('example_supply', { unit: 'tokens', description: 'Tokens that exist.' })
const large = Exporter.register('large_transfer', 'example')
const Account = Entity.register<{ balance?: bigint }>('ExampleAccount')

const processor = createProcessor({
  baseUrl: process.env['MILLRACE_URL'] ?? 'http://127.0.0.1:8080',
  apiKey: process.env['MILLRACE_API_KEY'] ?? '',
  project: process.env['MILLRACE_PROJECT'] ?? 'demo/erc20',
  // While the service is away, blocks wait here.
  spool: fileSpool('./spool'),
  onWarning: (warning) => console.warn(warning),
})

const firstSeconds = Math.floor(Date.now() / 1000) - 600
for (let number = 1; number <= 10; number++) {
  const time = new Date((firstSeconds + number * 12) * 1000)
  await processor.block({ chain: 'example', number, time }, async (context) => {
    const value = 10n ** 18n * BigInt(number)
    transfers.add(context, 1, { kind: 'transfer' })
    supply.record(context, value * 1000n)
    const log = context.at({ transactionHash: `0x${number}`, logIndex: 0 })
    log.eventLogger.emit('ExampleTransfer', { distinctId: 'alice', to: 'bob', value })
    const bob = await context.store.get(Account, 'bob')
    context.store.upsert(Account, { id: 'bob', balance: (bob?.balance ?? 0n) + value })
    if (number % 5 === 0) large.emit(log, { to: 'bob', value })
  })
}
await processor.drain()
console.log('10 blocks sent')
