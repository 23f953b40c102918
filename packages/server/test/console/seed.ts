import type { TestService } from '../support/service.ts'

const EVENTS = 6000
const HOUR_MS = 3_600_000

/** Two metrics over a week with a label, events, an entity, and exports to a channel that nobody has configured. */
export async function seedProject(service: TestService, address: string): Promise<void> {
  const [owner, name] = address.split('/')
  await service.post('/projects', { owner, name })
  const now = Date.now()
  const at = (index: number, ms: number) => ({
    chain: '1',
    blockNumber: 1000 + index,
    blockHash: `0x${index}`,
    time: new Date(ms).toISOString(),
  })
  const prices = Array.from({ length: 168 }, (_, hour) => hour).flatMap((hour) =>
    ['a', 'b'].map((pool) => ({
      type: 'gauge',
      name: 'price',
      value: 100 + 10 * Math.sin(hour / 9) + (pool === 'a' ? 0 : 25),
      labels: { pool },
      ...at(hour, now - (168 - hour) * HOUR_MS),
    })),
  )
  const transfers = Array.from({ length: EVENTS }, (_, index) => ({
    type: 'event',
    name: 'Transfer',
    attributes: {
      to: index === 17 ? 'needle' : `0x${index % 50}`,
      amount: { $int: String(10n ** 30n + BigInt(index)) },
    },
    ...at(200 + index, now - (EVENTS - index) * 60_000),
  }))
  const others = [
    { type: 'upsert', name: 'Account', id: 'alice', attributes: { balance: 7 }, ...at(9000, now - 1000) },
    { type: 'export', name: 'large', channel: 'waiting', data: { amount: '1' }, ...at(9001, now - 500) },
  ]
  for (const records of [prices, transfers, others]) {
    const { status, body } = await service.post(`/ingest/${address}/batch`, { records })
    if (status !== 200) throw new Error(`the seed was refused: ${JSON.stringify(body)}`)
  }
}
