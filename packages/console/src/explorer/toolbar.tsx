import { ChartArea, ChartColumn, ChartLine, Layers, Table2, ZoomOut } from 'lucide-react'
import { ToggleButton, ToggleButtonGroup } from 'react-aria-components'
import { IconButton } from '../parts/button.tsx'
import { Choose, Search } from '../parts/field.tsx'
import { instantMs } from '../parts/instant.ts'
import type { ExplorerState } from './explorer-state.ts'
import { DEFAULT_RANGE } from './range-request.ts'
import { LOCAL_ZONE, TimePicker } from '../parts/time-picker.tsx'

const VIEWS = [
  ['line', 'Lines', ChartLine],
  ['area', 'Areas', ChartArea],
  ['stacked', 'Stacked', Layers],
  ['bar', 'Bars', ChartColumn],
  ['table', 'Table', Table2],
] as const

const STEPS = [
  { id: 'auto', name: 'Step: auto' },
  ...[
    [60, '1 min'],
    [300, '5 min'],
    [900, '15 min'],
    [3600, '1 h'],
    [21_600, '6 h'],
    [86_400, '1 day'],
    [604_800, '1 week'],
    [2_592_000, '1 month'],
    [31_536_000, '1 year'],
  ].map(([seconds, name]) => ({ id: String(seconds), name: `Step: ${name}` })),
]
const REFRESHES = [
  { id: '0', name: 'Refresh: off' },
  { id: '5000', name: 'Refresh: 5 s' },
  { id: '30000', name: 'Refresh: 30 s' },
]
const ZONES = [...new Set(['UTC', LOCAL_ZONE, ...Intl.supportedValuesOf('timeZone')])].map((name) => ({
  id: name,
  name,
}))

/** Range, zone, step and form of what is shown. */
export function Toolbar({
  state,
  onChange,
  refreshMs,
  onRefreshChange,
}: {
  readonly state: ExplorerState
  readonly onChange: (changed: Partial<ExplorerState>) => void
  readonly refreshMs: number
  readonly onRefreshChange: (ms: number) => void
}) {
  const timezone = state.timezone ?? LOCAL_ZONE
  return (
    <div className="toolbar">
      <TimePicker
        key={`${state.from} ${state.to} ${timezone}`}
        from={state.from ?? DEFAULT_RANGE.from}
        to={state.to ?? DEFAULT_RANGE.to}
        timezone={timezone}
        onChange={(from, to) => onChange({ from, to })}
      />
      <IconButton name="Zoom out" look="plain" onPress={() => onChange(doubled(state))}>
        <ZoomOut aria-hidden />
      </IconButton>
      <Search
        label="Time zone"
        isLabelHidden
        value={timezone}
        choices={ZONES}
        onChange={(zone) => onChange({ timezone: zone })}
      />
      <Choose
        label="Step"
        isLabelHidden
        value={STEPS.some(({ id }) => id === String(state.step)) ? String(state.step) : 'auto'}
        choices={STEPS}
        onChange={(step) => onChange({ step: step === 'auto' ? undefined : Number(step) })}
      />
      <Choose
        label="Refresh"
        isLabelHidden
        value={String(refreshMs)}
        choices={REFRESHES}
        onChange={(ms) => onRefreshChange(Number(ms))}
      />
      <ToggleButtonGroup
        className="segments"
        aria-label="View"
        disallowEmptySelection
        selectedKeys={[state.view ?? 'line']}
        onSelectionChange={(keys) => {
          const [view] = keys
          if (view !== undefined) onChange({ view: view as NonNullable<ExplorerState['view']> })
        }}
      >
        {VIEWS.map(([id, name, Picture]) => (
          <ToggleButton key={id} id={id}>
            <Picture aria-hidden /> {name}
          </ToggleButton>
        ))}
      </ToggleButtonGroup>
    </div>
  )
}

/** Twice the range around the same middle, and no later than now. */
function doubled({ from = DEFAULT_RANGE.from, to = DEFAULT_RANGE.to }: ExplorerState) {
  const now = Date.now()
  const start = instantMs(from, now)
  const end = instantMs(to, now)
  const half = Math.max(60_000, end - start) / 2
  return { from: String(Math.round(start - half)), to: String(Math.round(Math.min(now, end + half))) }
}
