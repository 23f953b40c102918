/** Options that do not make sense; exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
