const WIDTH = 30
const EVERY_MS = 100

/** A bar on standard error while it is a terminal; nothing elsewhere. */
export function createProgressBar(isShown: boolean = process.stderr.isTTY) {
  const startedAt = performance.now()
  let drawnAt = Number.NEGATIVE_INFINITY
  let firstRows: number | null = null
  return {
    draw(fraction: number, rows: number): void {
      const now = performance.now()
      firstRows ??= rows
      if (!isShown || now - drawnAt < EVERY_MS) return
      drawnAt = now
      process.stderr.write(
        `\r${renderProgress(fraction, rows, (rows - firstRows) / ((now - startedAt) / 1000))}\u001B[K`,
      )
    },
    clear(): void {
      if (isShown) process.stderr.write('\r\u001B[K')
    },
  }
}

/** The bar as text: part, percentage, rows, rows a second. */
export function renderProgress(fraction: number, rows: number, rowsPerSecond: number): string {
  const filled = Math.round(Math.min(1, fraction) * WIDTH)
  const rate = Math.round(Number.isFinite(rowsPerSecond) ? rowsPerSecond : 0)
  return `[${'█'.repeat(filled)}${' '.repeat(WIDTH - filled)}] ${Math.floor(fraction * 100)} %  ${rows.toLocaleString('en')} rows  ${rate.toLocaleString('en')}/s`
}
