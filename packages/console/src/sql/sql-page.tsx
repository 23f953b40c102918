import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Download, Play, Share, Square } from 'lucide-react'
import { useRef, useState } from 'react'
import { quoteName, tablesQuery, useProject, type TableInfo } from '../api/project.ts'
import { projectPath } from '../api/project-address.ts'
import { Button } from '../parts/button.tsx'
import { Code } from '../parts/code.tsx'
import { curlCommand } from '../parts/curl.ts'
import { Dialog } from '../parts/dialog.tsx'
import { TextInput } from '../parts/field.tsx'
import { ErrorNotice, Progress } from '../parts/notice.tsx'
import { Page } from '../parts/page.tsx'
import { DownloadDialog } from './download-dialog.tsx'
import { parameterToWire, placeholdersOf } from './parameters.ts'
import { noteStatement, QueryHistory } from './query-history.tsx'
import { ResultView } from './result-view.tsx'
import { PAGE_SIZE, useRun } from './run.ts'
import { SavedQueries } from './saved-queries.tsx'
import { SchemaBrowser } from './schema-browser.tsx'
import { SqlEditor, type SqlEditorHandle } from './sql-editor.tsx'

/** Statements and their results. */
export function SqlPage() {
  const address = useProject()
  const tables = useQuery(tablesQuery(address))
  return (
    <Page title="SQL" lead="One SELECT statement in the dialect of ClickHouse. Nothing here changes data.">
      {tables.error && <ErrorNotice error={tables.error} onRetry={() => void tables.refetch()} />}
      {tables.isPending ? <Progress label="Loading the tables" /> : <Workspace tables={tables.data ?? []} />}
    </Page>
  )
}

function Workspace({ tables }: { readonly tables: readonly TableInfo[] }) {
  const address = useProject()
  const search = useSearch({ from: '/signed-in/p/$owner/$project/sql' })
  const navigate = useNavigate({ from: '/p/$owner/$project/sql' })
  const editor = useRef<SqlEditorHandle>(null)
  const [sql, setSql] = useState(search.sql ?? example(tables))
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const [dialog, setDialog] = useState<'none' | 'curl' | 'download'>('none')
  const { run, start, more, cancel } = useRun(address)
  const placeholders = placeholdersOf(sql)
  const statement = {
    sql,
    size: PAGE_SIZE,
    ...(placeholders.length === 0
      ? {}
      : {
          parameters: Object.fromEntries(
            placeholders.map(({ name, type }) => [name, parameterToWire(type, values[name] ?? '')]),
          ),
        }),
  }
  const runNow = () => {
    if (sql.trim() === '') return
    noteStatement(address, sql)
    void navigate({ search: { sql }, replace: true })
    void start(statement, true)
  }
  return (
    <div className="sql">
      <SchemaBrowser tables={tables} onInsert={(text) => editor.current?.insert(text)} />
      <div className="stack">
        <section className="card" aria-label="Statement">
          <SqlEditor
            ref={editor}
            initial={sql}
            tables={tables}
            fault={run.fault}
            onChange={setSql}
            onRun={runNow}
          />
          {placeholders.length > 0 && (
            <div className="toolbar">
              {placeholders.map(({ name, type }) => (
                <TextInput
                  key={name}
                  label={`${name}: ${type}`}
                  isMono
                  value={values[name] ?? ''}
                  onChange={(value) => setValues((before) => ({ ...before, [name]: value }))}
                />
              ))}
            </div>
          )}
          <div className="toolbar">
            {run.state === 'running' ? (
              <Button look="danger" onPress={cancel}>
                <Square aria-hidden /> Cancel
              </Button>
            ) : (
              <Button look="primary" onPress={runNow}>
                <Play aria-hidden /> Run
              </Button>
            )}
            <span className="grow soft small">Ctrl-Enter</span>
            <QueryHistory
              key={run.startedAt}
              address={address}
              onPick={(text) => {
                editor.current?.replace(text)
              }}
            />
            <SavedQueries address={address} sql={sql} onPick={(text) => editor.current?.replace(text)} />
            <Button isDisabled={run.state !== 'done'} onPress={() => setDialog('download')}>
              <Download aria-hidden /> Download
            </Button>
            <Button onPress={() => setDialog('curl')}>
              <Share aria-hidden /> Export as cURL
            </Button>
          </div>
        </section>
        <section className="card" aria-label="Result">
          <ResultView key={run.startedAt} run={run} onMore={() => void more()} />
        </section>
      </div>
      <Dialog
        title="Export as cURL"
        isOpen={dialog === 'curl'}
        onClose={() => setDialog('none')}
        place="wide"
      >
        <Code
          label="cURL"
          text={curlCommand(`/analytics/${projectPath(address)}/sql/execute`, { sqlQuery: statement })}
        />
        <p className="soft small">
          Further pages: send the cursor of an answer, and nothing else, to the same address.
        </p>
      </Dialog>
      <DownloadDialog
        address={address}
        statement={statement}
        isOpen={dialog === 'download'}
        onClose={() => setDialog('none')}
      />
    </div>
  )
}

function example(tables: readonly TableInfo[]): string {
  const table = tables.find(({ kind }) => kind === 'event') ?? tables[0]
  if (!table) return ''
  const name = /^\w+$/.test(table.name) ? table.name : quoteName(table.name)
  return `select *\nfrom ${name}\norder by timestamp desc\nlimit 1000`
}
