import { RawJson, type Attributes, type MetricValue } from '../processor/encode.ts'
import type { Context } from '../processor/block-context.ts'
import type { ProcessResult, RecordMetadata, TimeseriesMessage } from './process-result.ts'
import { attributesOf, metricValueOf } from './rich-value.ts'

const TYPES: Readonly<Record<string, 'event' | 'gauge' | 'counter'>> = {
  0: 'event',
  1: 'gauge',
  2: 'counter',
  EVENT: 'event',
  GAUGE: 'gauge',
  COUNTER: 'counter',
}

/** Emits what one handler's result holds, each record at its place in the block. */
export function emitResult(
  context: Context,
  result: ProcessResult,
  channelOf: ReadonlyMap<string, string>,
): void {
  const { timeseriesResult = [], gauges = [], counters = [], events = [], exports = [] } = result
  if (timeseriesResult.length > 0) for (const each of timeseriesResult) emitTimeseries(context, each)
  else {
    for (const gauge of gauges) emitMetric(context, 'gauge', gauge.metadata, metricValueOf(gauge))
    for (const counter of counters) {
      emitMetric(
        context,
        counter.add === false ? 'decrease' : 'counter',
        counter.metadata,
        metricValueOf(counter),
      )
    }
    for (const { metadata, attributes2, attributes = {}, distinctEntityId, severity, message } of events) {
      const own = attributes2?.fields ? attributesOf(attributes2) : attributes
      emitEvent(context, metadata, { ...own, distinctId: distinctEntityId, severity, message })
    }
  }
  for (const { metadata = {}, payload = 'null' } of exports) {
    const name = metadata.name ?? ''
    const channel = channelOf.get(name)
    if (channel === undefined) throw new TypeError(`export "${name}" is not among exportConfigs`)
    at(context, metadata).export(name, channel, new RawJson(payload))
  }
}

function emitTimeseries(context: Context, { metadata, type = 0, data }: TimeseriesMessage): void {
  const kind = TYPES[type]
  if (kind === undefined) throw new TypeError(`time series type ${type} is not known`)
  const fields = attributesOf(data)
  if (kind === 'event') emitEvent(context, metadata, fields)
  else emitMetric(context, kind, metadata, fields['value'] as MetricValue | undefined)
}

function emitMetric(
  context: Context,
  kind: 'gauge' | 'counter' | 'decrease',
  metadata: RecordMetadata = {},
  value: MetricValue | undefined,
): void {
  // What is no finite number is no point, and was none there either.
  if (value === undefined || (typeof value === 'number' && !Number.isFinite(value))) return
  const { meter } = at(context, metadata)
  const { name = '', labels = {} } = metadata
  if (kind === 'gauge') meter.Gauge(name).record(value, labels)
  else if (kind === 'counter') meter.Counter(name).add(value, labels)
  else meter.Counter(name).sub(value, labels)
}

function emitEvent(context: Context, metadata: RecordMetadata = {}, attributes: Attributes): void {
  at(context, metadata).eventLogger.emit(metadata.name ?? '', attributes)
}

function at(context: Context, metadata: RecordMetadata): Context {
  const { block } = context
  const { blockNumber = block.number, chainId = block.chain } = metadata
  if (Number(blockNumber) !== block.number || (chainId !== '' && chainId !== block.chain)) {
    throw new TypeError(
      `a result of block ${blockNumber} of chain "${chainId}" is among those of block ${block.number} of chain "${block.chain}"`,
    )
  }
  const { transactionHash, transactionIndex, logIndex, contractName, address } = metadata
  return context.at({
    ...(transactionHash ? { transactionHash } : {}),
    ...(transactionIndex !== undefined && transactionIndex >= 0 ? { transactionIndex } : {}),
    ...(logIndex !== undefined && logIndex >= 0 ? { logIndex } : {}),
    ...(contractName ? { contract: contractName } : {}),
    ...(address ? { address } : {}),
  })
}
