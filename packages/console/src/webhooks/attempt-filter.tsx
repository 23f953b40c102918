import { CalendarClock, X } from 'lucide-react'
import { Button, IconButton } from '../parts/button.tsx'
import { Choose, TextInput } from '../parts/field.tsx'
import { LOCAL_ZONE, TimePicker } from '../parts/time-picker.tsx'
import type { AttemptFilter } from './api.ts'

const OUTCOMES = [
  { id: 'all', name: 'Every outcome' },
  { id: 'acknowledged', name: 'Acknowledged' },
  { id: 'failed', name: 'Failed' },
  { id: 'refused', name: 'Refused' },
  { id: 'timed_out', name: 'Timed out' },
  { id: 'unreachable', name: 'Unreachable' },
]

/** Which attempts are shown: by outcome, by status, by time. */
export function AttemptFilterBar({
  filter,
  onChange,
}: {
  readonly filter: AttemptFilter
  readonly onChange: (filter: AttemptFilter) => void
}) {
  const { range } = filter
  const isStatus = filter.status === '' || /^[1-5]\d\d$/.test(filter.status)
  return (
    <div className="toolbar">
      <Choose
        label="Outcome"
        isLabelHidden
        value={filter.outcome}
        choices={OUTCOMES}
        onChange={(outcome) => onChange({ ...filter, outcome })}
      />
      <TextInput
        label="HTTP status"
        isLabelHidden
        placeholder="HTTP status"
        value={filter.status}
        onChange={(status) => onChange({ ...filter, status })}
        errorMessage={isStatus ? undefined : 'A status such as 500'}
      />
      {range === null ? (
        <Button look="quiet" onPress={() => onChange({ ...filter, range: { from: 'now-1d', to: 'now' } })}>
          <CalendarClock aria-hidden /> Any time
        </Button>
      ) : (
        <>
          <TimePicker
            key={`${range.from} ${range.to}`}
            from={range.from}
            to={range.to}
            timezone={LOCAL_ZONE}
            onChange={(from, to) => onChange({ ...filter, range: { from, to } })}
          />
          <IconButton name="Show attempts of any time" onPress={() => onChange({ ...filter, range: null })}>
            <X aria-hidden />
          </IconButton>
        </>
      )}
    </div>
  )
}
