const WIDTH = 30
const EVERY_MS = 100
const SHORTEST_BAR = 10
const SHORTEST_NAME = 12

/** A line of progress on standard error while it is a terminal. Elsewhere only what is waited for is told, once. */
export function createProgressBar(name: string, isShown: boolean = process.stderr.isTTY) {
  const startedAt = performance.now()
  let drawnAt = Number.NEGATIVE_INFINITY
  let told = ''
  let first: { readonly fraction: number; readonly rows: number } | null = null

  return {
    draw(fraction: number, rows: number): void {
      const now = performance.now()
      // The rate is that of this run; what an earlier one did took no time of it.
      first ??= { fraction, rows }
      if (!isShown || now - drawnAt < EVERY_MS) return
      drawnAt = now
      const seconds = (now - startedAt) / 1000
      const left = ((1 - fraction) / (fraction - first.fraction)) * seconds
      const rate = (rows - first.rows) / seconds
      write(renderProgress({ name, fraction, rows, rate, secondsLeft: left, columns: columns() }))
    },
    /** Says why nothing moves, and when it is tried again. */
    wait(reason: string, waitMs: number): void {
      drawnAt = Number.NEGATIVE_INFINITY
      if (isShown) {
        const again = `waiting: ${reason}; again in ${Math.ceil(waitMs / 1000)} s`
        write(`${shorten(name, Math.max(SHORTEST_NAME, columns() - again.length - 1))} ${again}`)
      } else if (told !== reason) process.stderr.write(`${name}: waiting: ${reason}\n`)
      told = reason
    },
    clear(): void {
      if (isShown) process.stderr.write('\r\u001B[K')
    },
  }
}

/** A line that wraps could not be drawn over. */
function write(line: string): void {
  process.stderr.write(`\r${line.slice(0, columns())}\u001B[K`)
}

/** The last one stays free: some terminals wrap a line that fills it. */
function columns(): number {
  return (process.stderr.columns || 80) - 1
}

/** What is known of an import under way; rate and time left are not finite as long as nobody knows. */
interface Progress {
  readonly name: string
  readonly fraction: number
  readonly rows: number
  /** Rows a second. */
  readonly rate: number
  readonly secondsLeft: number
  readonly columns: number
}

/**
 * Name, bar, percentage, rows, rows a second, time left, in a line of at most so many columns: a long name is shortened first, then the bar
 * becomes shorter and goes, then what stands last goes.
 */
export function renderProgress({ name, fraction, rows, rate, secondsLeft, columns }: Progress): string {
  const isKnown = Number.isFinite(rate) && Number.isFinite(secondsLeft) && rate > 0
  const details = [
    `${Math.floor(fraction * 100)} %`,
    `${rows.toLocaleString('en')} rows`,
    ...(isKnown ? [`${Math.round(rate).toLocaleString('en')}/s`, `${timeOf(secondsLeft)} left`] : []),
  ]
  const nameLength = Math.min(name.length, SHORTEST_NAME)
  while (details.length > 1 && nameLength + 1 + details.join('  ').length > columns) details.pop()
  const text = details.join('  ')
  const room = columns - text.length - 1
  const barRoom = room - nameLength - 3
  if (barRoom < SHORTEST_BAR) return `${shorten(name, room)} ${text}`
  const width = Math.min(WIDTH, barRoom)
  const filled = Math.round(Math.min(1, fraction) * width)
  return `${shorten(name, room - width - 3)} [${'█'.repeat(filled)}${' '.repeat(width - filled)}] ${text}`
}

/** The end of a file's name tells more than its middle. */
function shorten(name: string, length: number): string {
  if (name.length <= length) return name
  if (length < 3) return name.slice(0, Math.max(0, length))
  const kept = length - 1
  const end = Math.floor(kept / 2)
  return `${name.slice(0, kept - end)}…${end === 0 ? '' : name.slice(-end)}`
}

function timeOf(seconds: number): string {
  const whole = Math.ceil(seconds)
  const minutes = Math.floor(whole / 60)
  return minutes === 0 ? `${whole} s` : `${minutes}:${String(whole % 60).padStart(2, '0')} min`
}
