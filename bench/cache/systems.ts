import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { PROJECT } from '../api.ts'
import { rawRequest } from '../raw-client.ts'

export const DAYS = 30
export const DAY_MS = 86_400_000
export const PANEL_STEP_SECONDS = 3600
const LARGE_STEP_SECONDS = 3 * 3600
/** Of a hundred series as many as make an answer of somewhat more than 100 kB, compressed. */
const LARGE_SERIES = '[0-6].*'

/** A system under measurement, by what it is asked. */
export interface Asked {
  readonly name: string
  readonly url: string
  large(endMs: number): Buffer
  panel(name: PanelFunction, series: number, endMs: number): Buffer
}

/** Points of the first are known from the round before; the second is added up again each time, from buckets in memory. */
export const PANEL_FUNCTIONS = ['max_over_time', 'avg_over_time'] as const
export type PanelFunction = (typeof PANEL_FUNCTIONS)[number] | typeof WARM_UP_FUNCTION
/** Of what is asked before panels are measured, so that a program that is compiled as it runs is compiled. */
export const WARM_UP_FUNCTION = 'min_over_time'

/** Bodies of requests to the service, as its clients send them. */
export function askMillrace(key: string, body: object, path = `metrics/${PROJECT}/query_range`): Buffer {
  const headers = { 'api-key': key, 'content-type': 'application/json', 'accept-encoding': 'gzip' }
  return rawRequest('POST', `/api/v1/${path}`, headers, JSON.stringify(body))
}

export function panelQuery(series: number, name: PanelFunction) {
  return {
    query: 'load',
    labelSelector: { series: String(series) },
    functions: [{ name, arguments: [{ durationValue: { value: 1, unit: 'h' } }] }],
  }
}

export function millrace(url: string, key: string): Asked {
  return {
    name: 'Millrace',
    url,
    large: (endMs) =>
      askMillrace(key, {
        queries: [{ query: 'load', labelSelector: { series: `=~${LARGE_SERIES}` } }],
        timeRange: { start: endMs - DAYS * DAY_MS, end: endMs, step: LARGE_STEP_SECONDS },
      }),
    panel: (name, series, endMs) =>
      askMillrace(key, {
        queries: [panelQuery(series, name)],
        timeRange: { start: endMs - DAYS * DAY_MS, end: endMs, step: PANEL_STEP_SECONDS },
      }),
  }
}

export function victoriaMetrics(url: string): Asked {
  return {
    name: 'VictoriaMetrics',
    url,
    large: (endMs) =>
      askVictoria(`last_over_time(load{series=~"${LARGE_SERIES}"}[1d])`, endMs, LARGE_STEP_SECONDS),
    panel: (name, series, endMs) =>
      askVictoria(`${name}(load{series="${series}"}[1h])`, endMs, PANEL_STEP_SECONDS),
  }
}

function askVictoria(query: string, endMs: number, step: number): Buffer {
  const parameters = new URLSearchParams({
    query,
    start: String(endMs / 1000 - DAYS * 86_400),
    end: String(endMs / 1000),
    step: `${step}s`,
  })
  return rawRequest('GET', `/api/v1/query_range?${parameters.toString()}`, { 'accept-encoding': 'gzip' })
}

/** Node's own server that answers whatever it is asked with so many bytes. */
export async function startBareServer(
  bytes: number,
): Promise<{ readonly asked: Asked; stop(): Promise<void> }> {
  const child = fork(join(import.meta.dirname, 'bare-server-process.ts'), [String(bytes)])
  const [port] = (await once(child, 'message')) as [number]
  const request = rawRequest('POST', '/', { 'content-type': 'application/json' }, '{}')
  return {
    asked: {
      name: 'bare Node',
      url: `http://127.0.0.1:${port}`,
      large: () => request,
      panel: () => request,
    },
    stop: async () => {
      child.kill()
      await once(child, 'exit')
    },
  }
}
