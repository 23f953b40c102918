import { percentile } from './percentile.ts'
import type { Arrival } from './sink.ts'

/** Latencies from enqueueing to arrival at the receiver, in milliseconds. */
export interface Latency {
  readonly p50: number
  readonly p99: number
  /** Of each tenth of what arrived, in order of arrival: what grows with time shows here, and what was only a moment as well. */
  readonly tenths: readonly { readonly p50: number; readonly p99: number }[]
  /** The same, from when whoever enqueued was told that the message is stored. */
  readonly p99SinceStored: number
  /** Where the slowest hundredth of all messages spent its time on average. */
  readonly slowest: Stages
  /** The median of each stage, over all messages. */
  readonly typical: Stages
}

/** The way of a message in milliseconds: until it was stored, until the request that carries it was begun, until that arrived. */
interface Stages {
  readonly storing: number
  readonly waiting: number
  readonly request: number
}

const SLOWEST_SHARE = 0.01
const TENTHS = 10

/** Arrivals without those of messages that had come before. */
export function firstArrivals(arrivals: readonly Arrival[]): readonly Arrival[] {
  const seen = new Set<number>()
  return arrivals.filter(([n]) => !seen.has(n) && seen.add(n))
}

/** Latencies of arrivals, in order of arrival; `storedAt` by number of the message. */
export function latencyOf(arrivals: readonly Arrival[], storedAt: ReadonlyMap<number, number>): Latency {
  const total = arrivals.map(([, at, , arrivedAt]) => arrivedAt - at)
  const tenth = Math.ceil(total.length / TENTHS)
  const sinceStored = arrivals.map(([n, at, , arrivedAt]) => Math.max(0, arrivedAt - (storedAt.get(n) ?? at)))
  const slowest = arrivals
    .toSorted((a, b) => lengthOf(b) - lengthOf(a))
    .slice(0, Math.ceil(arrivals.length * SLOWEST_SHARE))
  return {
    p50: percentile(total, 0.5),
    p99: percentile(total, 0.99),
    tenths: Array.from({ length: TENTHS }, (_, n) => total.slice(n * tenth, (n + 1) * tenth)).map((part) => ({
      p50: percentile(part, 0.5),
      p99: percentile(part, 0.99),
    })),
    p99SinceStored: percentile(sinceStored, 0.99),
    slowest: eachStage(slowest, storedAt, mean),
    typical: eachStage(arrivals, storedAt, (values) => percentile(values, 0.5)),
  }
}

function eachStage(
  arrivals: readonly Arrival[],
  storedAt: ReadonlyMap<number, number>,
  summarise: (values: readonly number[]) => number,
): Stages {
  const stages = arrivals.map((arrival) => stagesOf(arrival, storedAt))
  return {
    storing: summarise(stages.map(({ storing }) => storing)),
    waiting: summarise(stages.map(({ waiting }) => waiting)),
    request: summarise(stages.map(({ request }) => request)),
  }
}

function lengthOf([, at, , arrivedAt]: Arrival): number {
  return arrivedAt - at
}

/** A message may be sent before whoever enqueued it hears that it is stored: then it counts as stored when it was sent. */
function stagesOf([n, at, sentAt, arrivedAt]: Arrival, storedAt: ReadonlyMap<number, number>): Stages {
  const stored = Math.min(Math.max(at, storedAt.get(n) ?? at), sentAt)
  return { storing: stored - at, waiting: sentAt - stored, request: arrivedAt - sentAt }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
