/** Shows what a phase is doing: a line that changes on a terminal, a line now and then elsewhere. */
export function createProgress(output: NodeJS.WriteStream) {
  const isTerminal = output.isTTY
  const everyMs = isTerminal ? 100 : 2000
  let shownAt = -Infinity
  let isLineOpen = false

  function closeLine(): void {
    if (isLineOpen) output.write('\r\u001B[K')
    isLineOpen = false
  }

  return {
    /** A passing state. */
    update(text: string): void {
      if (performance.now() - shownAt < everyMs) return
      shownAt = performance.now()
      closeLine()
      output.write(isTerminal ? text : `${text}\n`)
      isLineOpen = isTerminal
    },
    /** A line that stays. */
    line(text = ''): void {
      closeLine()
      output.write(`${text}\n`)
    },
  }
}

export type Progress = ReturnType<typeof createProgress>

/** A bar of 24 characters with the share in per cent. */
export function formatBar(done: number, total: number): string {
  const share = total === 0 ? 1 : Math.min(1, done / total)
  const full = Math.round(share * 24)
  return `${'█'.repeat(full)}${'░'.repeat(24 - full)} ${String(Math.floor(share * 100)).padStart(3)} %`
}
