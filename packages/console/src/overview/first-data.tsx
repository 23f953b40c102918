import { projectPath, type ProjectAddress } from '../api/project-address.ts'
import { Code } from '../parts/code.tsx'
import { Empty } from '../parts/notice.tsx'
import { Card } from '../parts/page.tsx'

/** How the first data comes into a project. */
export function FirstData({
  address,
  keyName,
}: {
  readonly address: ProjectAddress
  readonly keyName: string
}) {
  const path = projectPath(address)
  return (
    <Card isPadded={false}>
      <Empty title="No data yet">
        <p>
          Send the first records with the key {keyName === '' ? '' : `“${keyName}” or another one `}that may
          write, from a processor:
        </p>
        <Code
          label="processor"
          text={`import { Counter, createProcessor } from '@millrace/sdk'

const transfers = Counter.register('transfers')
const processor = createProcessor({ baseUrl: '${location.origin}', apiKey: process.env.MILLRACE_API_KEY, project: '${path}' })

await processor.block({ chain: '1', number: 20_000_000, time: new Date() }, (context) => {
  transfers.add(context, 1, { token: 'USDC' })
  context.eventLogger.emit('Transfer', { from: '0x1…', to: '0x2…', amount: 10n ** 30n })
})
await processor.flush()`}
        />
        <p>or from anything that speaks HTTP:</p>
        <Code
          label="command"
          text={`curl -s ${location.origin}/api/v1/ingest/${path}/batch -H "api-key: $MILLRACE_API_KEY" \\
  -H 'content-type: application/x-ndjson' --data-binary '
{"type": "gauge", "name": "price", "value": 1.25, "labels": {"pool": "a"}, "time": "${new Date().toISOString().slice(0, 19)}Z"}
'`}
        />
      </Empty>
    </Card>
  )
}
