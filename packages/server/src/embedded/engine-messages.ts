/** What the supervisor hands to the engine process over IPC before anything else. */
export interface EngineConfiguration {
  readonly kind: 'configure'
  /** Directory that chDB owns. */
  readonly directory: string
  /** Statements that may run side by side. */
  readonly poolSize: number
  /** The password of every request; a secret, so it never stands in arguments or the environment. */
  readonly password: string
  /** Where it answers; null for a port of the loopback interface. */
  readonly socketPath: string | null
  /** Time limit of a statement that brings none. */
  readonly defaultTimeoutSeconds: number
}

/** What the supervisor tells a running engine process. */
export type EngineOrder = EngineConfiguration | { readonly kind: 'stop' }

/** What the engine process tells its supervisor. */
export type EngineReport =
  /** A socket in a directory has no port: 0. */
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'failed'; readonly message: string }

/** One statement as a session runs it. */
export interface EngineStatement {
  /** Unique in the process; stands in a comment of the statement so that it can be found and killed. */
  readonly tag: string
  readonly sql: string
  /** Is it to be told how many rows it reads? That holds it for a moment behind each short chunk. */
  readonly isCounted: boolean
  /** Small: asked for as one whole, which is quicker than in chunks. */
  readonly isWhole: boolean
  /** Rows of an INSERT, after the statement's own text. */
  readonly body: Uint8Array | null
  /** Output format where the statement names none. */
  readonly format: string
  readonly database: string
  readonly settings: Readonly<Record<string, string>>
  /** Values of `{name:Type}` placeholders as ClickHouse writes them in a URL. */
  readonly parameters: Readonly<Record<string, string>>
}

/** What the pool tells a session's thread. `more` grants one further chunk, `counted` lets a counted statement go on. */
export type SessionOrder =
  | { readonly kind: 'run'; readonly statement: EngineStatement }
  | { readonly kind: 'more' }
  | { readonly kind: 'counted' }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'close' }

/** What a session's thread tells the pool. A run ends with exactly one `done` or `failed`. */
export type SessionReport =
  | { readonly kind: 'ready' }
  | { readonly kind: 'chunk'; readonly bytes: Uint8Array }
  /** The statement may be at its end, and waits to be counted. */
  | { readonly kind: 'count' }
  | { readonly kind: 'read'; readonly rows: number }
  | {
      readonly kind: 'done'
      /** The last chunk, where it was not reported on its own. */
      readonly last: Uint8Array | null
      readonly writtenRows: number
      readonly writtenBytes: number
    }
  | { readonly kind: 'failed'; readonly message: string }
