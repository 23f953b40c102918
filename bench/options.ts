import { parseArgs } from 'node:util'

/** What a run measures, and against which service. */
export interface BenchOptions {
  /** Counter and gauge samples to load. */
  readonly samples: number
  /** Series that the samples belong to. */
  readonly series: number
  /** Rows of an event log to load. */
  readonly events: number
  /** Messages to export to the loopback receiver. */
  readonly messages: number
  /** Times that each query is asked. */
  readonly repeats: number
  /** Records in an ingest batch. */
  readonly batch: number
  /** Ingest requests under way at once. */
  readonly connections: number
  /** The same seed and sizes give the same values. */
  readonly seed: number
  /** A running service to measure; null starts one on a temporary directory. */
  readonly url: string | null
  /** Its administrator key. */
  readonly key: string | null
  /** File that the results are written to as JSON. */
  readonly out: string
}

const SIZES = {
  samples: 500_000,
  series: 1000,
  events: 50_000,
  messages: 5000,
  repeats: 50,
  batch: 10_000,
  connections: 4,
  seed: 1,
} as const

/** The text of `--help`. */
export const USAGE = `npm run bench -- [options]

${Object.entries(SIZES)
  .map(([name, value]) => `  --${name} N`.padEnd(20) + `default ${value}`)
  .join('\n')}
  --url URL         measure a running service instead of starting one (it must allow webhooks to 127.0.0.0/8)
  --key KEY         its administrator key
  --out FILE        default bench/results/latest.json`

/** Reads the command line. Throws an Error that names the option and what it allows; null asks for the usage. */
export function readOptions(argv: readonly string[]): BenchOptions | null {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    args: [...argv],
    options: {
      ...(Object.fromEntries(Object.keys(SIZES).map((name) => [name, text])) as Record<
        keyof typeof SIZES,
        typeof text
      >),
      url: text,
      key: text,
      out: text,
      help: { type: 'boolean', short: 'h' },
    },
  })
  if (values.help) return null
  if ((values.url === undefined) !== (values.key === undefined))
    throw new Error('--url and --key go together')
  const size = (name: keyof typeof SIZES): number => {
    const given = values[name] ?? String(SIZES[name])
    if (!/^\d{1,12}$/.test(given)) throw new Error(`--${name} must be a whole number, not "${given}"`)
    return Math.max(Number(given), name === 'samples' || name === 'events' || name === 'messages' ? 0 : 1)
  }
  return {
    samples: size('samples'),
    series: size('series'),
    events: size('events'),
    messages: size('messages'),
    repeats: size('repeats'),
    batch: size('batch'),
    connections: size('connections'),
    seed: size('seed'),
    url: values.url ?? null,
    key: values.key ?? null,
    out: values.out ?? 'bench/results/latest.json',
  }
}
