/** Does work every so often, until the function returned is called; keeps no process alive. */
export function repeat(work: () => void, everyMs: number): () => void {
  const timer = setInterval(work, everyMs).unref()
  return () => {
    clearInterval(timer)
  }
}
