import {
  fromAbsolute,
  getLocalTimeZone,
  toCalendarDate,
  today,
  type CalendarDate,
} from '@internationalized/date'
import { CalendarClock, ChevronLeft, ChevronRight } from 'lucide-react'
import { useState } from 'react'
import {
  CalendarCell,
  CalendarGrid,
  Button as AriaButton,
  Dialog,
  DialogTrigger,
  Heading,
  Popover,
  RangeCalendar,
} from 'react-aria-components'
import { Button } from './button.tsx'
import { TextInput } from './field.tsx'

const PRESETS: readonly (readonly [from: string, name: string])[] = [
  ['now-15m', 'Last 15 minutes'],
  ['now-1h', 'Last hour'],
  ['now-6h', 'Last 6 hours'],
  ['now-1d', 'Last 24 hours'],
  ['now-7d', 'Last 7 days'],
  ['now-30d', 'Last 30 days'],
  ['now-90d', 'Last 90 days'],
  ['now-1y', 'Last year'],
]
const RELATIVE = /^now(-\d+(s|m|h|d|w|mo|M|y))?$/
const RULE = 'now, now-<n> with s m h d w mo y, or a date such as 2026-01-31 14:00'

/** Picks a range of time: in words, by typing, or on a calendar. */
export function TimePicker({
  from,
  to,
  timezone,
  onChange,
}: {
  readonly from: string
  readonly to: string
  readonly timezone: string
  readonly onChange: (from: string, to: string) => void
}) {
  const [isOpen, setOpen] = useState(false)
  const choose = (start: string, end: string) => {
    onChange(start, end)
    setOpen(false)
  }
  return (
    <DialogTrigger isOpen={isOpen} onOpenChange={setOpen}>
      <Button>
        <CalendarClock aria-hidden /> {rangeInWords(from, to, timezone)}
      </Button>
      <Popover className="popover" placement="bottom start">
        <Dialog aria-label="Time range" className="time-picker">
          <div className="presets">
            {PRESETS.map(([start, name]) => (
              <Button key={start} look="quiet" onPress={() => choose(start, 'now')}>
                {name}
              </Button>
            ))}
          </div>
          <Exact from={from} to={to} timezone={timezone} onChange={choose} />
        </Dialog>
      </Popover>
    </DialogTrigger>
  )
}

function Exact({ from, to, timezone, onChange }: Parameters<typeof TimePicker>[0]) {
  const [start, setStart] = useState(inWords(from, timezone))
  const [end, setEnd] = useState(inWords(to, timezone))
  const [isTried, setTried] = useState(false)
  const fault = (text: string) => (isTried && read(text, timezone) === null ? RULE : undefined)
  const apply = () => {
    setTried(true)
    const range = [read(start, timezone), read(end, timezone)] as const
    if (range[0] !== null && range[1] !== null) onChange(range[0], range[1])
  }
  return (
    <form
      className="exact"
      onSubmit={(event) => {
        event.preventDefault()
        apply()
      }}
    >
      <RangeCalendar
        className="calendar"
        aria-label="Days"
        maxValue={today(timezone)}
        onChange={({ start: first, end: last }) => {
          setStart(`${first.toString()} 00:00`)
          setEnd(last.compare(today(timezone)) >= 0 ? 'now' : `${last.add({ days: 1 }).toString()} 00:00`)
        }}
        defaultFocusedValue={focused(from, timezone)}
      >
        <header>
          <AriaButton slot="previous" className="button quiet icon">
            <ChevronLeft aria-hidden />
          </AriaButton>
          <Heading level={3} />
          <AriaButton slot="next" className="button quiet icon">
            <ChevronRight aria-hidden />
          </AriaButton>
        </header>
        <CalendarGrid>{(date) => <CalendarCell date={date} className="day" />}</CalendarGrid>
      </RangeCalendar>
      <TextInput label="From" isMono value={start} onChange={setStart} errorMessage={fault(start)} />
      <TextInput label="To" isMono value={end} onChange={setEnd} errorMessage={fault(end)} />
      <Button look="primary" type="submit">
        Show this range
      </Button>
    </form>
  )
}

/** The time zone of the browser. */
export const LOCAL_ZONE = getLocalTimeZone()

function focused(from: string, timezone: string): CalendarDate {
  return /^\d+$/.test(from) ? toCalendarDate(fromAbsolute(Number(from), timezone)) : today(timezone)
}

function inWords(instant: string, timezone: string): string {
  if (!/^\d+$/.test(instant)) return instant
  const { year, month, day, hour, minute } = fromAbsolute(Number(instant), timezone)
  return `${year}-${two(month)}-${two(day)} ${two(hour)}:${two(minute)}`
}

function two(value: number): string {
  return String(value).padStart(2, '0')
}

/** A range in words: `Last 7 days`, or its two ends. */
function rangeInWords(from: string, to: string, timezone: string): string {
  const preset = to === 'now' ? PRESETS.find(([start]) => start === from)?.[1] : undefined
  return preset ?? `${inWords(from, timezone)} → ${inWords(to, timezone)}`
}

/** What was typed, as the address and the API carry it; null when it cannot be read. */
function read(text: string, timezone: string): string | null {
  const typed = text.trim()
  if (RELATIVE.test(typed)) return typed
  const [, date, time = '00:00'] = /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}))?$/.exec(typed) ?? []
  if (date === undefined || Number.isNaN(Date.parse(`${date}T${time}Z`))) return null
  const asUtc = Date.parse(`${date}T${time}Z`)
  // The offset of the zone at that place, asked twice because it may change between the two.
  const guess = asUtc - fromAbsolute(asUtc, timezone).offset
  return String(asUtc - fromAbsolute(guess, timezone).offset)
}
