import { parseArgs } from 'node:util'
import type { PeerName } from './peers.ts'

/** What can be measured. */
const PHASES = ['agree', 'warm', 'cold', 'clients', 'loop', 'curves', 'disk', 'live'] as const
type Phase = (typeof PHASES)[number]

/** What a run compares, and with what. */
export interface MetricsBenchOptions {
  /** Share of the data set's series; 1 is all of it. */
  readonly scale: number
  /** Times that each system is asked each query. */
  readonly rounds: number
  /** The data of all systems; loaded by the first run and kept. */
  readonly data: string
  readonly peers: readonly PeerName[]
  readonly phases: readonly Phase[]
  /** Beginnings of the names of queries; none means all. */
  readonly queries: readonly string[]
  readonly out: string
}

/** The text of `--help`. */
export const USAGE = `npm run bench:metrics -- [options]

  --scale N         share of the data set, default 1: 33 000 000 samples; 0.02 for a first look
  --rounds N        times that each query is asked of each system, default 15
  --data DIR        data of the systems, kept between runs, default bench/data-metrics
  --peers LIST      of VictoriaMetrics,Prometheus; default both (Debian packages, installed where missing)
  --phases LIST     of ${PHASES.join(',')}; default all
  --queries LIST    such as Q1,Q8; default all
  --out FILE        default bench/results/metrics.json`

/** Reads the command line. Throws an Error that names the option and what it allows; null asks for the usage. */
export function readOptions(argv: readonly string[]): MetricsBenchOptions | null {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    args: [...argv],
    options: {
      scale: text,
      rounds: text,
      data: text,
      peers: text,
      phases: text,
      queries: text,
      out: text,
      help: { type: 'boolean', short: 'h' },
    },
  })
  if (values.help) return null
  const scale = Number(values.scale ?? 1)
  const rounds = Number(values.rounds ?? 15)
  if (!(scale > 0 && scale <= 1)) throw new Error('--scale must be above 0 and at most 1')
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds must be a whole number above 0')
  return {
    scale,
    rounds,
    data: values.data ?? 'bench/data-metrics',
    peers: listOf('peers', values.peers, ['VictoriaMetrics', 'Prometheus'] as const),
    phases: listOf('phases', values.phases, PHASES),
    queries: (values.queries ?? '').split(',').filter((each) => each !== ''),
    out: values.out ?? 'bench/results/metrics.json',
  }
}

function listOf<Name extends string>(
  option: string,
  given: string | undefined,
  allowed: readonly Name[],
): readonly Name[] {
  if (given === undefined) return allowed
  return given
    .split(',')
    .filter((each) => each !== '')
    .map((each) => {
      const name = allowed.find((known) => known === each)
      if (name === undefined) throw new Error(`--${option} takes ${allowed.join(', ')}, not "${each}"`)
      return name
    })
}
