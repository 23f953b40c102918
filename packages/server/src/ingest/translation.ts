/** What another system's request became: records as the batch route takes them, and what could not become one. */
export interface Translation {
  readonly records: readonly object[]
  /** Why something was left out, one sentence each. */
  readonly rejected: readonly string[]
}
