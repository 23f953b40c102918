/** States of an asynchronous execution; one that is KILLED has ended without a result, and says why (SQ-8). */
export const EXECUTION_STATUSES = ['PENDING', 'RUNNING', 'FINISHED', 'KILLED'] as const
export type ExecutionStatus = (typeof EXECUTION_STATUSES)[number]

/** An execution whose caller asks for the result later. Instants are epoch milliseconds. */
export interface SqlExecution {
  readonly id: string
  readonly projectId: number
  readonly queryId: string
  readonly version: number
  readonly status: ExecutionStatus
  readonly pageSize: number
  /** The instance that runs it. */
  readonly owner: string
  /** Tells whether a repeated idempotency key comes with the same request. */
  readonly requestHash: string
  readonly idempotencyKey: string | null
  readonly resultId: string
  readonly error: string | null
  readonly scheduledAt: number
  readonly startedAt: number | null
  readonly finishedAt: number | null
}

/** Where executions are kept, so that any instance can tell of them and a restart forgets none. */
export interface ExecutionStore {
  /** Keeps a new one; gives back the one that has its idempotency key already. */
  add(execution: SqlExecution): Promise<SqlExecution>
  find(projectId: number, id: string): Promise<SqlExecution | null>
  markRunning(id: string, startedAt: number): Promise<void>
  markFinished(id: string, finishedAt: number): Promise<void>
  /** Ends one that has not ended; false when it has. */
  markKilled(id: string, finishedAt: number, error: string): Promise<boolean>
  wantCancel(id: string): Promise<void>
  /** Tells that the owner lives; gives back which of its executions are to be cancelled. */
  beat(owner: string, now: number): Promise<readonly string[]>
  /** Ends every one whose owner has not told for long that it lives; returns how many. */
  killAbandoned(beatBefore: number, finishedAt: number, error: string): Promise<number>
  expire(scheduledBefore: number): Promise<number>
}
