/** What another system's request became: records as the batch route takes them, and what could not become one. */
export interface Translation {
  readonly records: readonly object[]
  /** The number of the point that each record is of, where several are of one: these are stored together or not at all. */
  readonly points?: readonly number[]
  /** Why something was left out, one sentence each. */
  readonly rejected: readonly string[]
}
