import { Plus, Trash2 } from 'lucide-react'
import type { TableInfo } from '../api/project.ts'
import type { ProjectAddress } from '../api/project-address.ts'
import { Button, IconButton } from '../parts/button.tsx'
import { queryId, type ExplorerState } from './explorer-state.ts'
import type { MetricFunction } from './functions.ts'
import { QueryEditor, TypedText } from './query-editor.tsx'

/** The queries and the formulas over them. */
export function QueryList({
  address,
  state,
  tables,
  known,
  onChange,
}: {
  readonly address: ProjectAddress
  readonly state: ExplorerState
  readonly tables: readonly TableInfo[]
  readonly known: ReadonlyMap<string, MetricFunction>
  readonly onChange: (changed: Partial<ExplorerState>) => void
}) {
  const queries = state.queries?.length ? state.queries : [{ metric: '' }]
  const formulas = state.formulas ?? []
  return (
    <div className="queries">
      {queries.map((query, place) => (
        <QueryEditor
          key={place}
          address={address}
          place={place}
          query={query}
          tables={tables}
          known={known}
          onChange={(changed) => onChange({ queries: queries.with(place, changed) })}
          onRemove={() => onChange({ queries: queries.toSpliced(place, 1) })}
        />
      ))}
      {formulas.map((formula, place) => (
        <div key={place} className="query" role="group" aria-label={`Formula ${place + 1}`}>
          <span className="query-id">ƒ</span>
          <div className="query-parts">
            <div className="field metric">
              <TypedText
                label={`Formula ${place + 1}`}
                placeholder="a / b * 100"
                value={formula.expression}
                onChange={(expression) =>
                  onChange({ formulas: formulas.with(place, { ...formula, expression }) })
                }
              />
            </div>
            <TypedText
              label={`Name of formula ${place + 1}`}
              placeholder="Name"
              value={formula.alias ?? ''}
              onChange={(alias) => onChange({ formulas: formulas.with(place, { ...formula, alias }) })}
            />
          </div>
          <IconButton
            name={`Remove formula ${place + 1}`}
            onPress={() => onChange({ formulas: formulas.toSpliced(place, 1) })}
          >
            <Trash2 aria-hidden />
          </IconButton>
        </div>
      ))}
      <div className="toolbar">
        <Button look="quiet" onPress={() => onChange({ queries: [...queries, { metric: '' }] })}>
          <Plus aria-hidden /> Query {queryId(queries.length)}
        </Button>
        <Button look="quiet" onPress={() => onChange({ formulas: [...formulas, { expression: '' }] })}>
          <Plus aria-hidden /> Formula
        </Button>
      </div>
    </div>
  )
}
