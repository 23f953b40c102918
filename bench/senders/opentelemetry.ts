import process from 'node:process'
import type { Check, Finding } from './finding.ts'
import { copyBelow, installPeers, runIn } from './peers.ts'

/** The public exporters, and what they need. */
export const PACKAGES = [
  '@opentelemetry/api',
  '@opentelemetry/api-logs',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-logs',
  '@opentelemetry/sdk-metrics',
  '@opentelemetry/exporter-logs-otlp-http',
  '@opentelemetry/exporter-logs-otlp-proto',
  '@opentelemetry/exporter-metrics-otlp-http',
  '@opentelemetry/exporter-metrics-otlp-proto',
]

/** The public exporters of OpenTelemetry: both forms, both temporalities, gzip, every kind of instrument, and log records. */
export const checkOpenTelemetry: Check = async (target) => {
  const peers = installPeers('opentelemetry', PACKAGES)
  copyBelow(peers, 'bench/senders/opentelemetry-sender.mjs', 'sender.mjs')
  const project = await target.createProject('opentelemetry')
  const endpoint = `${target.url}/api/v1/otlp/${project}`
  runIn(peers, process.execPath, ['sender.mjs', endpoint, target.key])
  const findings: Finding[] = []
  const find = async (what: string, sent: unknown, statement: string) => {
    const rows = await target.sql(project, statement)
    findings.push({ what, sent: JSON.stringify(sent), stored: JSON.stringify(rows) })
  }
  for (const form of ['protobuf', 'json']) {
    for (const temporality of ['delta', 'cumulative']) {
      const prefix = `${form}_${temporality}`
      const about = `${form}, ${temporality}`
      // What was sent in all: deltas add up, of a running total the newest is the sum.
      const total = temporality === 'delta' ? 'sum(value)' : 'argMax(value, timestamp)'
      await find(
        `${about}: counter`,
        [
          { method: 'GET', n: 7 },
          { method: 'POST', n: 3 },
        ],
        `select labels['method'] as method, ${total} as n from ${prefix}_requests group by method order by method`,
      )
      await find(
        `${about}: up and down`,
        [{ n: -3 }],
        `select argMax(value, timestamp) as n from ${prefix}_queue`,
      )
      await find(`${about}: histogram, sum`, [{ n: 8088 }], `select ${total} as n from ${prefix}_latency_sum`)
      await find(
        `${about}: histogram, buckets`,
        [
          { le: '5', n: 1 },
          { le: '10', n: 2 },
          { le: '100', n: 3 },
          { le: '+Inf', n: 4 },
        ],
        `select labels['le'] as le, ${total} as n from ${prefix}_latency_bucket where le in ('5', '10', '100', '+Inf') group by le order by n`,
      )
      await find(
        `${about}: exponential histogram`,
        [{ count: 3, below: 1, within: 2 }],
        `select (select argMax(value, timestamp) from ${prefix}_exponential_count) as count,
                max(if(labels['le'] = '0', value, 0)) as below,
                max(if(toFloat64OrZero(labels['le']) between 0.49 and 1, value, 0)) as within
         from ${prefix}_exponential_bucket where block_number = 0`,
      )
      await find(
        `${about}: gauge with any text as label`,
        [{ city: 'Zürich "Ost"', service: 'shop', value: -12.5 }],
        `select distinct labels['city'] as city, labels['service_name'] as service, value from ${prefix}_temperature`,
      )
    }
    await find(
      `${form}: log records`,
      [0, 1, 2].map((i) => ({
        severity: 'WARN',
        message: `order ${i}`,
        amount: i * 1.5,
        tags: '["a","b"]',
        nested: '{"deep":{"yes":true}}',
        service: 'shop',
      })),
      `select severity, message, toFloat64(amount) as amount, tags, nested, service_name as service from ${form}_order order by message`,
    )
  }
  return findings
}
