import { dayOf } from '../cache/data-change.ts'
import type { DataVersion } from '../cache/data-version-store.ts'
import type { ValueOrder } from './bucket-source.ts'
import { SUM_PARTS } from './exact-sum.ts'
import {
  alone,
  idsOf,
  isClosedBefore,
  learnNewSeries,
  readSorted,
  type MetricMemory,
  type ReadingContext,
  type Remembered,
  type ValuesBefore,
} from './metric-memory.ts'
import type { MetricType } from './series-source.ts'

/** The value of each series before a full hour, by place. */
export async function rememberedValues(
  memory: MetricMemory,
  context: ReadingContext,
  beforeMicros: number,
  isAlone = false,
): Promise<ValuesBefore> {
  const known = memory.values.get(beforeMicros)
  if (known && isTrueBefore(memory, known, beforeMicros)) {
    memory.values.delete(beforeMicros)
    memory.values.set(beforeMicros, known)
    return known.values
  }
  if (!isAlone) return alone(memory, () => rememberedValues(memory, context, beforeMicros, true))
  const { isSelection, asOf, onAdded } = context
  if (!isSelection) await learnNewSeries(memory, context)
  const read = await valuesBefore(memory, context, beforeMicros)
  const isClosed = isClosedBefore(memory, asOf, beforeMicros)
  const values = valuesOf(read, memory.series.length)
  const bytes = values.reduce((total, { byteLength }) => total + byteLength, 1)
  memory.values.delete(beforeMicros)
  memory.values.set(beforeMicros, { version: asOf.version, isClosed, bytes, values })
  onAdded()
  return values
}

/** The parts of a value, the first of them its nearest double. */
type Parts = Float64Array

function valuesOf(read: ReadonlyMap<number, Parts>, series: number): ValuesBefore {
  let used = 1
  for (const parts of read.values()) used = Math.max(used, 1 + parts.findLastIndex((part) => part !== 0))
  const values = Array.from({ length: used }, (_, part) =>
    new Float64Array(series).fill(part === 0 ? Number.NaN : 0),
  )
  for (const [place, parts] of read) {
    for (const [part, target] of values.entries()) target[place] = parts[part] ?? 0
  }
  return values
}

/** How far back the last values of gauges are looked for at first; then everything before. */
const LOOK_BACK_DAYS: Readonly<Record<MetricType, readonly (number | null)[]>> = {
  gauge: [2, 30, null],
  counter: [null],
}
const DAY_MICROS = 86_400_000_000
/** So many series are named one by one, more are read with the others. */
const MISSING_MAX = 1000

/** By place, a gauge's last value and a counter's sum. Gauges that are alive have theirs shortly before; the past is read for the others alone. */
async function valuesBefore(
  memory: MetricMemory,
  context: ReadingContext,
  beforeMicros: number,
): Promise<ReadonlyMap<number, Parts>> {
  const found = new Map<number, Parts>()
  let toMicros = beforeMicros
  for (const days of LOOK_BACK_DAYS[context.type]) {
    const fromMicros = days === null ? null : beforeMicros - days * DAY_MICROS
    const missing = memory.series.filter((_, place) => !found.has(place)).map(({ id }) => id)
    if (missing.length === 0) break
    const isMost = missing.length > MISSING_MAX || missing.length === memory.series.length
    const ids = isMost ? idsOf(memory, context) : missing
    await readValues(memory, context, { ids, fromMicros, beforeMicros: toMicros }, (place, parts) => {
      if (!found.has(place)) found.set(place, parts)
    })
    toMicros = fromMicros ?? toMicros
  }
  return found
}

function readValues(
  memory: MetricMemory,
  context: ReadingContext,
  order: Pick<ValueOrder, 'ids' | 'fromMicros' | 'beforeMicros'>,
  add: (place: number, parts: Parts) => void,
): Promise<void> {
  const { source, address, type, signal } = context
  const width = type === 'counter' ? SUM_PARTS : 1
  return readSorted(
    memory,
    context,
    width,
    (place, _key, _count, numbers, at) => add(place, numbers.slice(at, at + width)),
    (onRow) => source.values({ address, type, ...order }, onRow, signal),
  )
}

/** Are the values before a full hour in memory and still true? */
export function holdsValues(memory: MetricMemory, beforeMicros: number): boolean {
  const known = memory.values.get(beforeMicros)
  return known !== undefined && isTrueBefore(memory, known, beforeMicros)
}

/** Did anything before a time change since? */
function isTrueBefore(memory: MetricMemory, remembered: Remembered, beforeMicros: number): boolean {
  const end = dayOf(beforeMicros - 1)
  for (const [day, changed] of memory.days) {
    if (day <= end && !isTrue(memory, remembered, changed)) return false
  }
  return isTrue(memory, remembered)
}

/** Does what was read still hold, with what changed of its day since? */
function isTrue(memory: MetricMemory, { version, isClosed }: Remembered, changed?: DataVersion): boolean {
  return Math.max(memory.whole, (isClosed ? changed?.late : changed?.latest) ?? 0) <= version
}
