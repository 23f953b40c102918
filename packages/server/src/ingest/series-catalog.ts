import { createHash } from 'node:crypto'
import type { MetricType, Place, Series } from './batch.ts'
import { cleanName } from '../platform/clean-name.ts'
import { RESERVED_LABELS } from './name.ts'
import type { IngestLimits } from './ingest-limits.ts'
import { RecordFault } from './record-fault.ts'

/** Turns the name and labels of a sample into its series. Equal ones give the same object, so that callers can tell them apart by identity. */
export interface SeriesCatalog {
  /** `metric` is a clean name. Throws RecordFault for labels that are not allowed. */
  seriesOf(metric: string, type: MetricType, labels: unknown, place: Place): Series
}

/**
 * Remembers up to `maxRemembered` series by the text of their labels as sent, so that the hot path neither sorts nor hashes.
 * It starts afresh when full; ids do not depend on what is remembered.
 */
export function createSeriesCatalog(limits: IngestLimits, maxRemembered = 200_000): SeriesCatalog {
  const bySpelling = new Map<string, Series>()
  const byId = new Map<string, Series>()
  return {
    seriesOf(metric, type, labels, place) {
      const spelling = spell(metric, type, labels, place)
      const known = bySpelling.get(spelling)
      if (known) return known
      if (bySpelling.size >= maxRemembered) {
        bySpelling.clear()
        byId.clear()
      }
      const made = makeSeries(metric, type, labels, place, limits)
      // A label that is empty is the same as none (MQ-4), and labels come in any order: one series has many spellings.
      const series = byId.get(type + made.id) ?? made
      byId.set(type + made.id, series)
      bySpelling.set(spelling, series)
      return series
    },
  }
}

/**
 * The id of a series: the first 64 bits of a SHA-256 over its metric and its labels in order of their names. Being computed from content alone,
 * it needs no coordination between instances; among ten million series a collision has a chance of about 3 in a million.
 */
export function seriesId(metric: string, labels: Readonly<Record<string, string>>): string {
  return hashOf(metric, labels).readBigUInt64BE().toString()
}

function hashOf(metric: string, labels: Readonly<Record<string, string>>): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([metric, Object.entries(labels).toSorted(byName)]))
    .digest()
}

function makeSeries(
  metric: string,
  type: MetricType,
  given: unknown,
  place: Place,
  limits: IngestLimits,
): Series {
  const labels = new Map<string, string>()
  for (const [name, value] of Object.entries((given ?? {}) as Readonly<Record<string, unknown>>)) {
    addLabel(labels, name, value, limits)
  }
  if (labels.size > limits.maxLabelsPerSeries) {
    throw new RecordFault(
      'labels',
      `has ${labels.size} labels; at most ${limits.maxLabelsPerSeries} are allowed`,
    )
  }
  if (place.chain !== '') labels.set('chain', place.chain)
  if (place.contract !== '') labels.set('contract_name', place.contract)
  if (place.address !== '') labels.set('contract_address', place.address)
  const sorted = Object.fromEntries([...labels].toSorted(byName))
  const hash = hashOf(metric, sorted)
  return {
    id: hash.readBigUInt64BE().toString(),
    idLow: hash.readUInt32BE(4),
    idHigh: hash.readUInt32BE(0),
    metric,
    type,
    labels: sorted,
  }
}

function addLabel(labels: Map<string, string>, given: string, value: unknown, limits: IngestLimits): void {
  const name = cleanName(given)
  const field = `labels.${given.slice(0, 64)}`
  if (name === '') throw new RecordFault('labels', 'has a label without a name')
  if (name.length > 128) throw new RecordFault('labels', 'has a label name of more than 128 characters')
  if (RESERVED_LABELS.has(name)) {
    throw new RecordFault(field, `is reserved; it is filled from the record's chain, contract and address`)
  }
  if (value === null) return
  if (typeof value !== 'string') throw new RecordFault(field, 'must be a string')
  if (value.length > limits.maxLabelValueLength) {
    throw new RecordFault(field, `has more than ${limits.maxLabelValueLength} characters`)
  }
  if (!value.isWellFormed())
    throw new RecordFault(field, 'holds half a surrogate pair, which is no Unicode text')
  if (labels.has(name))
    throw new RecordFault(field, `is the same label as another one: both are kept as "${name}"`)
  if (value !== '') labels.set(name, value)
}

function byName([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** A text that differs whenever metric, type, labels or place differ; every part carries its length so that no two run together. */
function spell(metric: string, type: MetricType, labels: unknown, place: Place): string {
  const { chain, contract, address } = place
  let text = `${type}${metric} ${chain.length}:${chain}${contract.length}:${contract}${address.length}:${address}`
  if (labels === undefined || labels === null) return text
  if (typeof labels !== 'object' || Array.isArray(labels))
    throw new RecordFault('labels', 'must be an object of strings')
  const given = labels as Readonly<Record<string, unknown>>
  for (const name of Object.keys(given)) {
    const value = given[name]
    // Only strings are remembered by their text; anything else is judged by makeSeries each time it comes.
    text +=
      typeof value === 'string'
        ? `${name.length}:${name}${value.length}:${value}`
        : `${name.length}:${name}!${value === null ? 'null' : typeof value}`
  }
  return text
}
