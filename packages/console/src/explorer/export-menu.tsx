import type { QueryRangeRequest } from '@millrace/contract'
import { Share } from 'lucide-react'
import { useState } from 'react'
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components'
import { projectPath, type ProjectAddress } from '../api/project-address.ts'
import { Button } from '../parts/button.tsx'
import { Code } from '../parts/code.tsx'
import { curlCommand } from '../parts/curl.ts'
import { Dialog } from '../parts/dialog.tsx'
import { download } from '../parts/download.ts'
import { chartCsv, type ChartData } from './chart-data.ts'

/** The query as a command, as a program, as a file. */
export function ExportMenu({
  address,
  request,
  data,
}: {
  readonly address: ProjectAddress
  readonly request: QueryRangeRequest | null
  readonly data: ChartData | null
}) {
  const [isOpen, setOpen] = useState(false)
  const path = projectPath(address)
  return (
    <>
      <Button isDisabled={request === null} onPress={() => setOpen(true)}>
        <Share aria-hidden /> Export
      </Button>
      <Dialog title="Export this query" isOpen={isOpen} onClose={() => setOpen(false)} place="wide">
        <Tabs className="tabs">
          <TabList aria-label="Form">
            <Tab id="curl" className="tab">
              cURL
            </Tab>
            <Tab id="typescript" className="tab">
              TypeScript
            </Tab>
            <Tab id="csv" className="tab">
              CSV
            </Tab>
          </TabList>
          <TabPanel id="curl" className="tab-panel">
            <Code label="cURL" text={curlCommand(`/metrics/${path}/query_range`, request)} />
          </TabPanel>
          <TabPanel id="typescript" className="tab-panel">
            <Code label="TypeScript" text={sdkProgram(path, request)} />
          </TabPanel>
          <TabPanel id="csv" className="tab-panel">
            <div className="stack">
              <p className="soft">
                {data === null
                  ? 'There is no result yet.'
                  : `${data.series.length} series of ${data.times.length} points, a column each.`}
              </p>
              <div>
                <Button
                  look="primary"
                  isDisabled={data === null}
                  onPress={() =>
                    data && download(`${address.project}-metrics.csv`, chartCsv(data), 'text/csv')
                  }
                >
                  Download CSV
                </Button>
              </div>
            </div>
          </TabPanel>
        </Tabs>
      </Dialog>
    </>
  )
}

function sdkProgram(path: string, request: QueryRangeRequest | null): string {
  return `import { createClient } from '@millrace/sdk'

const client = createClient({ baseUrl: '${location.origin}', apiKey: process.env.MILLRACE_API_KEY })
const answer = await client.queryRange('${path}', ${JSON.stringify(request, null, 2)})
for (const { matrix } of answer.results) console.log(matrix?.samples)`
}
