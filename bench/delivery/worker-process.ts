/** The worker of one contender, as a process to be measured and killed: `node worker-process.ts <contender> <location>`, its channels' addresses in the first message. */
import { once } from 'node:events'
import process from 'node:process'
import type { Outgoing } from './contender.ts'
import { contenderNamed } from './contenders.ts'
import { tell } from './tell.ts'

const [, , name = '', location = ''] = process.argv
tell('listening')
const [urls] = (await once(process, 'message')) as [readonly string[]]
const worker = await contenderNamed(name).work(location, urls)
process.on('message', (order: 'usage' | { readonly id: number; readonly enqueue: readonly Outgoing[] }) => {
  if (order === 'usage') {
    tell({ usage: { rssBytes: process.memoryUsage.rss(), cpu: process.cpuUsage() } })
    return
  }
  worker.enqueue?.(order.enqueue).then(
    () => tell({ id: order.id, isStored: true }),
    () => tell({ id: order.id, isStored: false }),
  )
})
process.on('SIGTERM', () => void worker.stop().then(() => process.exit(0)))
// Whoever measures is gone.
process.on('disconnect', () => process.exit(1))
tell('started')
