import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'

/** What a soak can be asked for. */
export interface Soak {
  /** The npm script that runs it. */
  readonly script: string
  /** Unless told otherwise. */
  readonly kills: number
  /** Databases that it can run on; none where there is no choice. */
  readonly databases: readonly string[]
}

/** What it was asked for. */
export interface SoakOptions {
  readonly kills: number
  /** The same seed makes the same choices. */
  readonly seed: number
  /** Those to run on, one after the other. */
  readonly databases: readonly string[]
}

const NUMBER = /^\d{1,10}$/

/** The text of `--help`. */
export function soakUsage({ script, kills, databases }: Soak): string {
  const options = [
    `  --kills N        processes to kill (${kills})`,
    '  --seed N         decides what happens when (by chance; the report names it)',
    ...(databases.length === 0 ? [] : [`  --database NAME  only ${databases.join(' or ')}`]),
  ]
  return `npm run ${script} -- [options]\n\n${options.join('\n')}\n\nEnds with 1 if a promise was broken.`
}

/** Reads a command line. Throws an Error of one line that names the option and what it allows; null asks for the usage. */
export function readSoakOptions(argv: readonly string[], { kills, databases }: Soak): SoakOptions | null {
  const text = { type: 'string' } as const
  const { values } = parse(() =>
    parseArgs({
      args: [...argv],
      options: {
        kills: { ...text, default: String(kills) },
        seed: { ...text, default: String(randomBytes(4).readUInt32LE()) },
        help: { type: 'boolean', short: 'h' },
        ...(databases.length === 0 ? {} : { database: text }),
      },
    }),
  )
  if (values.help) return null
  if (!NUMBER.test(values.kills) || Number(values.kills) === 0) {
    throw new Error(`--kills must be a whole number from 1 on, not "${values.kills}"`)
  }
  if (!NUMBER.test(values.seed)) throw new Error(`--seed must be a whole number, not "${values.seed}"`)
  const database = values['database']
  if (typeof database === 'string' && !databases.includes(database)) {
    throw new Error(`--database must be one of ${databases.join(', ')}, not "${database}"`)
  }
  return {
    kills: Number(values.kills),
    seed: Number(values.seed),
    databases: typeof database === 'string' ? [database] : databases,
  }
}

/** Node explains what it does not understand in several lines, of which the first says it. */
function parse<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    const [first = ''] = error instanceof Error ? error.message.split('\n') : [String(error)]
    throw new Error(first, { cause: error })
  }
}

/** The options of this process; ends it after `--help`, with 0, and after what is not understood, with 2. */
export function soakOptions(soak: Soak): SoakOptions {
  try {
    const options = readSoakOptions(process.argv.slice(2), soak)
    if (options) return options
    process.stdout.write(`${soakUsage(soak)}\n`)
    process.exit(0)
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exit(2)
  }
}
