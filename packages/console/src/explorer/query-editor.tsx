import { useQuery } from '@tanstack/react-query'
import { Eye, EyeOff, Trash2, X } from 'lucide-react'
import { useState } from 'react'
import type { TableInfo } from '../api/project.ts'
import type { ProjectAddress } from '../api/project-address.ts'
import { IconButton } from '../parts/button.tsx'
import { Choose, Search, TextInput } from '../parts/field.tsx'
import { PickButton } from '../parts/pick-button.tsx'
import { queryId, type FunctionState, type QueryState } from './explorer-state.ts'
import { argumentFault, defaultArgument, functionSections, type MetricFunction } from './functions.ts'
import { labelsQuery } from './labels.ts'

const OPERATIONS = [
  { id: 'none', name: 'each series' },
  ...['SUM', 'AVG', 'MIN', 'MAX', 'COUNT'].map((id) => ({ id, name: id.toLowerCase() })),
]

/** One query: its metric, labels, aggregation, functions and name. */
export function QueryEditor({
  address,
  place,
  query,
  tables,
  known,
  onChange,
  onRemove,
}: {
  readonly address: ProjectAddress
  readonly place: number
  readonly query: QueryState
  readonly tables: readonly TableInfo[]
  /** The functions of the service by name. */
  readonly known: ReadonlyMap<string, MetricFunction>
  readonly onChange: (query: QueryState) => void
  readonly onRemove: () => void
}) {
  const metrics = tables.filter(({ kind }) => kind === 'metric').map(({ name }) => ({ id: name, name }))
  const { data: labels = [] } = useQuery(labelsQuery(address, query.metric))
  const functions = query.functions ?? []
  const id = queryId(place)
  const setFunction = (index: number, changed: FunctionState | null) =>
    onChange({
      ...query,
      functions: functions.flatMap((each, at) =>
        at === index ? (changed === null ? [] : [changed]) : [each],
      ),
    })
  return (
    <div className="query" role="group" aria-label={`Query ${id}`}>
      <span className={query.isHidden ? 'query-id off' : 'query-id'}>{id}</span>
      <div className="query-parts">
        <div className="field metric">
          <Search
            label={`Metric of query ${id}`}
            isLabelHidden
            placeholder="Search a metric"
            value={query.metric}
            choices={metrics}
            onChange={(metric) => onChange({ metric })}
          />
        </div>
        {Object.entries(query.labels ?? {}).map(([label, value]) => (
          <div key={label} className="chip">
            <span>{label}</span>
            <Search
              label={`Value of ${label}`}
              isLabelHidden
              allowsOthers
              placeholder="value, !=… or =~…"
              value={value}
              choices={(labels.find(({ name }) => name === label)?.values ?? []).map((each) => ({
                id: each,
                name: each,
              }))}
              onChange={(typed) => onChange({ ...query, labels: { ...query.labels, [label]: typed } })}
            />
            <IconButton
              name={`Remove the filter on ${label}`}
              onPress={() => {
                const { [label]: _, ...rest } = query.labels ?? {}
                onChange({ ...query, labels: rest })
              }}
            >
              <X aria-hidden />
            </IconButton>
          </div>
        ))}
        {labels.length > 0 && (
          <PickButton
            name="Filter"
            label="Label to filter by"
            sections={[
              {
                name: 'Labels',
                items: labels
                  .filter(({ name }) => !(name in (query.labels ?? {})))
                  .map(({ name }) => ({ id: name })),
              },
            ]}
            onPick={(label) =>
              onChange({
                ...query,
                labels: {
                  ...query.labels,
                  [label]: labels.find(({ name }) => name === label)?.values[0] ?? '',
                },
              })
            }
          />
        )}
        <div className="chip">
          <Choose
            label={`Aggregation of query ${id}`}
            isLabelHidden
            value={query.op ?? 'none'}
            choices={OPERATIONS}
            onChange={(op) => {
              const { op: _, by: __, ...rest } = query
              onChange(op === 'none' ? rest : { ...rest, op, ...(query.by ? { by: query.by } : {}) })
            }}
          />
        </div>
        {query.op !== undefined && (
          <>
            {(query.by ?? []).map((label) => (
              <span key={label} className="chip">
                <span>by {label}</span>
                <IconButton
                  name={`Do not group by ${label}`}
                  onPress={() =>
                    onChange({ ...query, by: (query.by ?? []).filter((each) => each !== label) })
                  }
                >
                  <X aria-hidden />
                </IconButton>
              </span>
            ))}
            <PickButton
              name="Group by"
              label="Label to group by"
              sections={[
                {
                  name: 'Labels',
                  items: labels
                    .filter(({ name }) => !query.by?.includes(name))
                    .map(({ name }) => ({ id: name })),
                },
              ]}
              onPick={(label) => onChange({ ...query, by: [...(query.by ?? []), label] })}
            />
          </>
        )}
        {functions.map(([name, ...typed], index) => (
          <FunctionChip
            key={`${index} ${name}`}
            name={name}
            takes={known.get(name)?.arguments ?? []}
            typed={typed}
            onChange={(changed) => setFunction(index, [name, ...changed])}
            onRemove={() => setFunction(index, null)}
          />
        ))}
        <PickButton
          name="Function"
          label="Function to apply"
          sections={functionSections([...known.values()])}
          onPick={(name) =>
            onChange({
              ...query,
              functions: [...functions, [name, ...(known.get(name)?.arguments ?? []).map(defaultArgument)]],
            })
          }
        />
        <TypedText
          label={`Name of query ${id}`}
          placeholder="Name, e.g. {{pool}}"
          value={query.alias ?? ''}
          onChange={(alias) => onChange({ ...query, alias })}
        />
      </div>
      <div className="row">
        <IconButton
          name={query.isHidden ? `Show query ${id}` : `Hide query ${id}, formulas still see it`}
          onPress={() => onChange({ ...query, isHidden: !query.isHidden })}
        >
          {query.isHidden ? <EyeOff aria-hidden /> : <Eye aria-hidden />}
        </IconButton>
        <IconButton name={`Remove query ${id}`} onPress={onRemove}>
          <Trash2 aria-hidden />
        </IconButton>
      </div>
    </div>
  )
}

function FunctionChip({
  name,
  takes,
  typed,
  onChange,
  onRemove,
}: {
  readonly name: string
  readonly takes: MetricFunction['arguments']
  readonly typed: readonly string[]
  readonly onChange: (typed: readonly string[]) => void
  readonly onRemove: () => void
}) {
  return (
    <div className="chip">
      <span className="mono">{name}</span>
      {takes.map((argument, place) => (
        <TypedText
          key={argument.name}
          label={takes.length === 1 ? `Argument of ${name}` : `${argument.name} of ${name}`}
          isMono
          value={typed[place] ?? ''}
          onChange={(text) => onChange(takes.map((_, at) => (at === place ? text : (typed[at] ?? ''))))}
          fault={(text) => argumentFault(argument, text)}
        />
      ))}
      <IconButton name={`Remove ${name}`} onPress={onRemove}>
        <X aria-hidden />
      </IconButton>
    </div>
  )
}

/** A text that is taken over when its field is left, or by Enter: not each letter is a query. */
export function TypedText({
  value,
  onChange,
  fault,
  ...rest
}: {
  readonly label: string
  readonly value: string
  readonly placeholder?: string
  readonly isMono?: boolean
  readonly onChange: (text: string) => void
  readonly fault?: (text: string) => string | undefined
}) {
  const [typed, setTyped] = useState(value)
  const [before, setBefore] = useState(value)
  // Another view was opened, or one went back to the one before: what was typed belongs to neither.
  if (value !== before) {
    setBefore(value)
    setTyped(value)
  }
  const take = () => typed !== value && onChange(typed)
  return (
    <form
      className="field"
      onSubmit={(event) => {
        event.preventDefault()
        take()
      }}
    >
      <TextInput
        {...rest}
        isLabelHidden
        value={typed}
        onChange={setTyped}
        onBlur={take}
        errorMessage={fault?.(typed)}
      />
    </form>
  )
}
