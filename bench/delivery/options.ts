import { parseArgs } from 'node:util'
import { CONTENDERS } from './contenders.ts'

/** In the order in which they run unless told otherwise; a pinned snapshot only when asked for. */
export const SCENARIOS = ['drain', 'latency', 'hanging', 'outage', 'kill', 'pinned'] as const
export type ScenarioName = (typeof SCENARIOS)[number]

/** What a run measures. */
export interface DeliveryOptions {
  readonly scenarios: readonly ScenarioName[]
  /** Part of the names of those who take part. */
  readonly contender: string
  readonly messages: number
  readonly channels: readonly number[]
  readonly rates: readonly number[]
  readonly latencies: readonly number[]
  readonly seconds: number
  readonly waiting: number
  readonly kills: number
  readonly out: string
  /** Files whose latencies are drawn instead of measuring anything; null measures. */
  readonly plot: readonly string[] | null
}

const DEFAULTS = {
  scenario: SCENARIOS.filter((name) => name !== 'pinned').join(','),
  contender: '',
  messages: '100000',
  channels: '10,1000',
  rates: '500,3000',
  latencies: '0,50,250',
  seconds: '10',
  waiting: '10000',
  kills: '4',
  out: 'bench/results/delivery.json',
} as const

/** The text of `--help`. */
export const USAGE = `npm run bench:delivery -- [options]

  --scenario LIST   of ${SCENARIOS.join(', ')}
  --contender TEXT  only those whose name contains it: ${CONTENDERS.map(({ name }) => name).join('; ')}
  --messages N      to drain (${DEFAULTS.messages})
  --channels LIST   to drain over (${DEFAULTS.channels})
  --rates LIST      messages a second of the open loop (${DEFAULTS.rates})
  --latencies LIST  milliseconds until the receiver answers (${DEFAULTS.latencies})
  --seconds N       of each open loop, of the outage and of the pinned snapshot (${DEFAULTS.seconds})
  --waiting N       messages that gather in the outage (${DEFAULTS.waiting})
  --kills N         (${DEFAULTS.kills})
  --out FILE        default ${DEFAULTS.out}; latencies are drawn beside it, as .svg
  --plot LIST       measures nothing, and draws the latencies of such files

Needs the PostgreSQL and, for BullMQ, the Redis of the system; npm packages of peers are installed into bench/.peers.`

/** Reads the command line. Throws an Error that names the option and what it allows; null asks for the usage. */
export function readOptions(argv: readonly string[]): DeliveryOptions | null {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      ...(Object.fromEntries(
        Object.entries(DEFAULTS).map(([name, value]) => [name, { type: 'string', default: value }]),
      ) as Record<keyof typeof DEFAULTS, { type: 'string'; default: string }>),
      plot: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  })
  if (values.help) return null
  const whole = (name: 'messages' | 'seconds' | 'waiting' | 'kills') => wholeNumber(name, values[name], 1)
  const list = (name: 'channels' | 'rates' | 'latencies') =>
    values[name].split(',').map((text) => wholeNumber(name, text, name === 'latencies' ? 0 : 1))
  if (!CONTENDERS.some(({ name }) => name.includes(values.contender))) {
    throw new Error(`--contender: nobody's name contains "${values.contender}"`)
  }
  return {
    scenarios: values.scenario.split(',').map(scenarioNamed),
    contender: values.contender,
    messages: whole('messages'),
    channels: list('channels'),
    rates: list('rates'),
    latencies: list('latencies'),
    seconds: whole('seconds'),
    waiting: whole('waiting'),
    kills: whole('kills'),
    out: values.out,
    plot: values.plot?.split(',') ?? null,
  }
}

function wholeNumber(name: string, text: string, least: number): number {
  if (/^\d{1,9}$/.test(text) && Number(text) >= least) return Number(text)
  throw new Error(`--${name}: "${text}" is no whole number from ${least} on`)
}

function scenarioNamed(text: string): ScenarioName {
  const found = SCENARIOS.find((name) => name === text)
  if (found) return found
  throw new Error(`--scenario: no "${text}"; there are ${SCENARIOS.join(', ')}`)
}
