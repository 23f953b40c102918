/** One comparison: what a sender sent and what is stored of it. */
export interface Finding {
  readonly what: string
  readonly sent: string
  readonly stored: string
}

/** What checks are given: the service, and how to ask it. */
export interface Target {
  readonly url: string
  readonly key: string
  /** Makes a project `senders/name`, empty. */
  createProject(name: string): Promise<string>
  sql(project: string, statement: string): Promise<readonly Readonly<Record<string, unknown>>[]>
  get(path: string): Promise<unknown>
}

/** A sender that exists already, run against the service. */
export type Check = (target: Target) => Promise<readonly Finding[]>
