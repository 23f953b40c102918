const WIDTH = 30
const EVERY_MS = 100

/** A line of progress on standard error while it is a terminal; nothing elsewhere. */
export function createProgressBar(name: string, isShown: boolean = process.stderr.isTTY) {
  const startedAt = performance.now()
  let drawnAt = Number.NEGATIVE_INFINITY
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
      write(`${name} ${renderProgress(fraction, rows, (rows - first.rows) / seconds, left)}`)
    },
    /** Says why nothing moves. */
    wait(reason: string): void {
      drawnAt = Number.NEGATIVE_INFINITY
      if (isShown) write(`${name} ${reason}`)
    },
    clear(): void {
      if (isShown) process.stderr.write('\r\u001B[K')
    },
  }
}

/** A line that wraps could not be drawn over. */
function write(line: string): void {
  process.stderr.write(`\r${line.slice(0, (process.stderr.columns || 80) - 1)}\u001B[K`)
}

/** The bar as text: part, percentage, rows, rows a second, time left. */
export function renderProgress(
  fraction: number,
  rows: number,
  rowsPerSecond: number,
  secondsLeft: number,
): string {
  const filled = Math.round(Math.min(1, fraction) * WIDTH)
  const bar = `[${'█'.repeat(filled)}${' '.repeat(WIDTH - filled)}] ${Math.floor(fraction * 100)} %  ${rows.toLocaleString('en')} rows`
  if (!Number.isFinite(rowsPerSecond) || !Number.isFinite(secondsLeft) || rowsPerSecond <= 0) return bar
  return `${bar}  ${Math.round(rowsPerSecond).toLocaleString('en')}/s  ${timeOf(secondsLeft)} left`
}

function timeOf(seconds: number): string {
  const whole = Math.ceil(seconds)
  const minutes = Math.floor(whole / 60)
  return minutes === 0 ? `${whole} s` : `${minutes}:${String(whole % 60).padStart(2, '0')} min`
}
