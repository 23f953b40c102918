// Sends known metrics and log records with the public exporters of OpenTelemetry: node opentelemetry-sender.mjs <endpoint> <key>
import process from 'node:process'
import { SeverityNumber } from '@opentelemetry/api-logs'
import { OTLPLogExporter as JsonLogs } from '@opentelemetry/exporter-logs-otlp-http'
import { OTLPLogExporter as ProtobufLogs } from '@opentelemetry/exporter-logs-otlp-proto'
import {
  AggregationTemporalityPreference,
  OTLPMetricExporter as JsonMetrics,
} from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPMetricExporter as ProtobufMetrics } from '@opentelemetry/exporter-metrics-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs'
import { AggregationType, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'

const [endpoint, key] = process.argv.slice(2)
const headers = { 'api-key': key }
const resource = resourceFromAttributes({ 'service.name': 'shop' })

for (const [form, Metrics, Logs] of [
  ['protobuf', ProtobufMetrics, ProtobufLogs],
  ['json', JsonMetrics, JsonLogs],
]) {
  for (const temporality of ['DELTA', 'CUMULATIVE']) {
    const exporter = new Metrics({
      url: `${endpoint}/v1/metrics`,
      headers,
      compression: 'gzip',
      temporalityPreference: AggregationTemporalityPreference[temporality],
    })
    const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })
    const exponential = {
      instrumentName: '*exponential',
      aggregation: { type: AggregationType.EXPONENTIAL_HISTOGRAM },
    }
    const provider = new MeterProvider({ resource, readers: [reader], views: [exponential] })
    const meter = provider.getMeter('senders')
    const name = (what) => `${form}.${temporality.toLowerCase()}.${what}`
    const requests = meter.createCounter(name('requests'))
    const queue = meter.createUpDownCounter(name('queue'))
    const latency = meter.createHistogram(name('latency'))
    const sizes = meter.createHistogram(name('exponential'))
    const temperature = meter.createGauge(name('temperature'))
    requests.add(2, { method: 'GET' })
    requests.add(3, { method: 'POST' })
    queue.add(-4)
    for (const value of [1, 7, 80]) latency.record(value)
    for (const value of [0, 0.5, 1000]) sizes.record(value)
    temperature.record(-12.5, { city: 'Zürich "Ost"' })
    await provider.forceFlush()
    requests.add(5, { method: 'GET' })
    queue.add(1)
    latency.record(8000)
    await provider.forceFlush()
    await provider.shutdown()
  }
  const logs = new LoggerProvider({
    resource,
    processors: [
      new BatchLogRecordProcessor({
        exporter: new Logs({ url: `${endpoint}/v1/logs`, headers, compression: 'gzip' }),
      }),
      // Older versions take the exporter itself.
    ],
  })
  const logger = logs.getLogger('senders')
  for (let i = 0; i < 3; i++) {
    logger.emit({
      eventName: `${form}.order`,
      severityNumber: SeverityNumber.WARN,
      body: `order ${i}`,
      attributes: { amount: i * 1.5, tags: ['a', 'b'], nested: { deep: { yes: true } } },
    })
  }
  await logs.forceFlush()
  await logs.shutdown()
}
