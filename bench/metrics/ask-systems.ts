import { once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'
import { PROJECT } from '../api.ts'
import type { Service } from '../service.ts'
import type { Peer } from './peers.ts'
import { rangeOf, requestOf, type BenchQuery, type PeerPart } from './queries.ts'

/** One of the systems under comparison. */
export interface System {
  readonly name: string
  /** Asks over HTTP, reads the whole answer, and returns the bytes of each of its parts. */
  ask(query: BenchQuery): Promise<readonly Uint8Array[]>
  /** Can it say what the query says? */
  can(query: BenchQuery): boolean
  /** The answer as points by series and second. */
  pointsOf(answer: readonly Uint8Array[]): Points
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
    ask: async (query) => [await fetchBytes(path, headers, JSON.stringify(requestOf(query)))],
    pointsOf: ([answer = new Uint8Array()]) => {
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
  function partsOf(query: BenchQuery): readonly PeerPart[] {
    const expression = name === 'VictoriaMetrics' ? query.metricsQl : query.promQl
    return query.inParts ?? (expression === undefined ? [] : [{ ...rangeOf(query), expression }])
  }

  function askPart({ startMs, endMs, expression }: PeerPart, stepSeconds: number): Promise<Uint8Array> {
    const body = new URLSearchParams({
      query: expression,
      start: String(startMs / 1000),
      end: String(endMs / 1000),
      step: String(stepSeconds),
      nocache: '1',
    })
    return fetchBytes(
      `${url}/api/v1/query_range`,
      { 'content-type': 'application/x-www-form-urlencoded' },
      body.toString(),
    )
  }

  return {
    name,
    can: (query) => partsOf(query).length > 0,
    ask: async (query) => {
      const answers: Uint8Array[] = []
      for (const part of partsOf(query)) answers.push(await askPart(part, query.stepSeconds))
      return answers
    },
    pointsOf: (answers) => {
      const points = new Map<string, Map<number, number>>()
      for (const answer of answers) {
        const { data } = JSON.parse(Buffer.from(answer).toString()) as PrometheusAnswer
        for (const { metric, values } of data.result) {
          const { __name__: _, ...labels } = metric
          const known = points.get(seriesKey(labels)) ?? new Map<number, number>()
          points.set(seriesKey(labels), known)
          for (const [second, value] of values) known.set(second, Number(value))
        }
      }
      return points
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
