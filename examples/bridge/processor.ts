// A processor of the existing SDK, as it is: nothing in it knows where its results go.
import { BigDecimal, Counter, Exporter, Gauge } from '@sentio/sdk'
import { ERC20Processor } from '@sentio/sdk/eth/builtin'
import { Account } from './schema/schema.js'

const volume = Counter.register('volume')
const lastValue = Gauge.register('last_value')
const large = Exporter.register('large_transfer', 'treasury')

ERC20Processor.bind({
  address: '0xdac17f958d2ee523a2206206994597c13d831ec7',
  name: 'usdt',
}).onEventTransfer(async (event, ctx) => {
  const { from, to, value } = event.args
  volume.add(ctx, value, { kind: value > 1000n ? 'large' : 'small' })
  lastValue.record(ctx, value)
  ctx.eventLogger.emit('Transfer', { distinctId: from, to, value })
  if (value > 1000n) large.emit(ctx, { to, value: value.toString() })

  const known = await ctx.store.get(Account, to)
  const balance = (known?.balance ?? 0n) + value
  await ctx.store.upsert(
    new Account({
      id: to,
      balance,
      transfers: (known?.transfers ?? 0) + 1,
      share: new BigDecimal(balance.toString()).dividedBy(1e18),
      lastSeen: ctx.timestamp,
      senders: [...(known?.senders ?? []), from],
    }),
  )
  const rich = await ctx.store.list(Account, [{ field: 'balance', op: '>', value: 1000n }])
  ctx.meter.Gauge('rich_accounts').record(rich.length)
})
