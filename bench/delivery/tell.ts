import process from 'node:process'

/** From a process of the bench to the one that started it, which may be gone: then nobody wants to know. */
export function tell(message: unknown): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => {})
}
