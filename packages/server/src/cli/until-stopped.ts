/**
 * Starts something and stops it in order at the first Ctrl-C or SIGTERM, also when that comes while it is starting. The
 * second one exits at once.
 */
export async function untilStopped(start: () => Promise<() => Promise<void>>): Promise<void> {
  const asked = Promise.withResolvers<void>()
  const onSignal = (signal: NodeJS.Signals) => {
    if (isAsked) process.exit(signal === 'SIGINT' ? 130 : 143)
    isAsked = true
    process.stderr.write('\nStopping; once more to exit at once.\n')
    asked.resolve()
  }
  let isAsked = false
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  try {
    const stop = await start()
    await asked.promise
    await stop()
  } finally {
    process.off('SIGINT', onSignal)
    process.off('SIGTERM', onSignal)
  }
}
