const waiting: (() => void)[] = []
let isScheduled = false

/**
 * Resolves in a later turn of the event loop, after what has arrived meanwhile was begun. One of those who wait goes on in each turn, so that
 * several large batches together hold up a small request no longer than one of them.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (isScheduled) return
    isScheduled = true
    setImmediate(letOneGoOn)
  })
}

function letOneGoOn(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(letOneGoOn)
  else isScheduled = false
}
