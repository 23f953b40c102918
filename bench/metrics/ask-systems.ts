import { once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'
import { PROJECT } from '../api.ts'
import type { Service } from '../service.ts'
import type { Peer } from './peers.ts'
import { rangeOf, requestOf, type BenchQuery } from './queries.ts'

/** One of the systems under comparison. */
export interface System {
  readonly name: string
  /** Asks over HTTP, reads the whole answer, and returns its bytes. */
  ask(query: BenchQuery): Promise<Uint8Array>
  /** Can it say what the query says? */
  can(query: BenchQuery): boolean
  /** The answer as points by series and second. */
  pointsOf(answer: Uint8Array): Points
}

/** Values by `labels` and epoch second. */
export type Points = ReadonlyMap<string, ReadonlyMap<number, number>>

const agent = new Agent({ keepAlive: true })

async function fetchBytes(url: string, headers: Record<string, string>, body: string): Promise<Uint8Array> {
  const sent = request(url, { method: 'POST', agent, headers })
  sent.end(body)
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk as Buffer)
  const bytes = Buffer.concat(chunks)
  if (answer.statusCode !== 200)
    throw new Error(`${url} answered ${answer.statusCode}: ${bytes.subarray(0, 500).toString()}`)
  return bytes
}

/** This service, result cache off. */
export function millrace({ url, key }: Service): System {
  const path = `${url}/v1/metrics/${PROJECT}/query_range`
  const headers = { 'api-key': key, 'content-type': 'application/json' }
  return {
    name: 'Millrace',
    can: () => true,
    ask: (query) => fetchBytes(path, headers, JSON.stringify(requestOf(query))),
    pointsOf: (answer) => {
      const { results } = JSON.parse(Buffer.from(answer).toString()) as RangeAnswer
      const [result] = results
      if (!result?.matrix) throw new Error(result?.error ?? 'no result')
      return new Map(
        result.matrix.samples.map(({ metric, values }) => [
          seriesKey(metric.labels),
          new Map(values.map(({ timestamp, value }) => [Number(timestamp), value])),
        ]),
      )
    },
  }
}

interface RangeAnswer {
  readonly results: readonly {
    readonly error?: string
    readonly matrix?: {
      readonly samples: readonly {
        readonly metric: { readonly labels: Record<string, string> }
        readonly values: readonly { readonly timestamp: string; readonly value: number }[]
      }[]
    }
  }[]
}

/** A peer; VictoriaMetrics without its cache of results. */
export function peerSystem({ name, url }: Peer): System {
  const expressionOf = (query: BenchQuery) => (name === 'VictoriaMetrics' ? query.metricsQl : query.promQl)
  return {
    name,
    can: (query) => expressionOf(query) !== undefined,
    ask: (query) => {
      const { startMs, endMs } = rangeOf(query)
      const body = new URLSearchParams({
        query: expressionOf(query) ?? '',
        start: String(startMs / 1000),
        end: String(endMs / 1000),
        step: String(query.stepSeconds),
        nocache: '1',
      })
      return fetchBytes(
        `${url}/api/v1/query_range`,
        { 'content-type': 'application/x-www-form-urlencoded' },
        body.toString(),
      )
    },
    pointsOf: (answer) => {
      const { data } = JSON.parse(Buffer.from(answer).toString()) as PrometheusAnswer
      return new Map(
        data.result.map(({ metric: { __name__: _, ...labels }, values }) => [
          seriesKey(labels),
          new Map(values.map(([second, value]) => [second, Number(value)])),
        ]),
      )
    },
  }
}

interface PrometheusAnswer {
  readonly data: {
    readonly result: readonly {
      readonly metric: Record<string, string>
      readonly values: readonly (readonly [number, string])[]
    }[]
  }
}

function seriesKey(labels: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
