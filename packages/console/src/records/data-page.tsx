import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components'
import { tablesQuery, useProject } from '../api/project.ts'
import { sessionQuery, usePermissions } from '../api/session.ts'
import { FirstData } from '../overview/first-data.tsx'
import { ErrorNotice, Progress } from '../parts/notice.tsx'
import { Page } from '../parts/page.tsx'
import type { DataTab } from './data-state.ts'
import { ProjectSettings } from './project-settings.tsx'
import { RecordBrowser } from './record-browser.tsx'
import { VersionList } from './version-list.tsx'

/** The records of a project, its versions and its settings. */
export function DataPage() {
  const address = useProject()
  const { mayAdmin } = usePermissions()
  const { data: key } = useQuery(sessionQuery)
  const { data: tables, error, refetch } = useQuery(tablesQuery(address))
  const state = useSearch({ from: '/signed-in/p/$owner/$project/data' })
  const navigate = useNavigate({ from: '/p/$owner/$project/data' })
  const of = (kind: string) => tables?.filter((table) => table.kind === kind) ?? []
  const browser = (kind: string) => (
    <RecordBrowser
      address={address}
      tables={of(kind)}
      chosen={state.table}
      onChoose={(table) => void navigate({ search: (before) => ({ ...before, table }), replace: true })}
    />
  )
  const isOffered: Readonly<Record<DataTab, boolean>> = {
    events: of('event').length > 0,
    entities: of('entity').length > 0,
    samples: of('metric').length > 0,
    versions: true,
    project: mayAdmin,
  }
  return (
    <Page title="Data">
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {!tables && !error && <Progress label="Loading the tables" />}
      {tables?.length === 0 && <FirstData address={address} keyName={key?.name ?? ''} />}
      {tables && (
        <Tabs
          className="tabs"
          {...(state.tab !== undefined && isOffered[state.tab] ? { selectedKey: state.tab } : {})}
          onSelectionChange={(tab) => {
            if (tab !== state.tab) void navigate({ search: { tab: tab as DataTab }, replace: true })
          }}
        >
          <TabList aria-label="Data">
            {isOffered.events && (
              <Tab id="events" className="tab">
                Event logs
              </Tab>
            )}
            {isOffered.entities && (
              <Tab id="entities" className="tab">
                Entities
              </Tab>
            )}
            {isOffered.samples && (
              <Tab id="samples" className="tab">
                Samples
              </Tab>
            )}
            <Tab id="versions" className="tab">
              Versions
            </Tab>
            {isOffered.project && (
              <Tab id="project" className="tab">
                Project
              </Tab>
            )}
          </TabList>
          <TabPanel id="events" className="tab-panel">
            {browser('event')}
          </TabPanel>
          <TabPanel id="entities" className="tab-panel">
            {browser('entity')}
          </TabPanel>
          <TabPanel id="samples" className="tab-panel">
            {browser('metric')}
          </TabPanel>
          <TabPanel id="versions" className="tab-panel">
            <VersionList address={address} />
          </TabPanel>
          <TabPanel id="project" className="tab-panel">
            <ProjectSettings address={address} />
          </TabPanel>
        </Tabs>
      )}
    </Page>
  )
}
