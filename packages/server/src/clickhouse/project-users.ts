import { createHash, createHmac } from 'node:crypto'
import { ServiceError } from '../platform/errors.ts'
import type { Logger } from '../platform/logger.ts'
import type { FactEngine, FactLogin } from './fact-engine.ts'
import { PROJECT_DATABASE_PREFIX } from './layout.ts'

/** What the users of projects may at most; no statement can raise it. */
export interface ProjectUserLimits {
  readonly timeoutMs: number
  readonly memoryBytesMax: number
  readonly rowsReadMax: number
  /** Statements of a project that run at once in one process. */
  readonly projectRunningMax: number
}

/** A user of the engine for each project, which reads that project's databases and nothing else (SQ-2). */
export interface ProjectUsers {
  /** Null where the engine lets the service make no users. */
  loginOf(projectId: number): Promise<FactLogin | null>
  /** Drops the user of a project that is gone. */
  forget(projectId: number): Promise<void>
}

const PROFILE = 'millrace_sql'
/** Each statement is also resolved, and several processes may share the engine. */
const CONCURRENT_PROCESSES = 8
/** What the engine answers when users cannot be made: no grant for it, or nowhere to keep them. */
const CANNOT = /Not enough privileges|no writeable access storage|ACCESS_DENIED|ACCESS_STORAGE/i

/**
 * Makes the users when they are first needed, and again in every process: the statements change nothing that is as it
 * should be, so that limits which have changed apply from the next start on.
 */
export function createProjectUsers({
  engine,
  secret,
  limits,
  log,
}: {
  readonly engine: FactEngine
  /** The same for all processes, as all must know the passwords. */
  readonly secret: Uint8Array
  readonly limits: ProjectUserLimits
  readonly log: Pick<Logger, 'warn'>
}): ProjectUsers {
  const logins = new Map<number, Promise<FactLogin | null>>()
  let isRefused = false

  async function make(projectId: number): Promise<FactLogin | null> {
    if (isRefused) return null
    const username = usernameOf(projectId)
    const password = createHmac('sha256', secret).update(username).digest('base64url')
    try {
      for (const sql of userStatements(username, password, limits)) await engine.command(sql)
    } catch (error) {
      if (!isRefusal(error)) throw error
      isRefused = true
      log.warn({ reason: error.message }, 'sql.users_cannot_be_made')
      return null
    }
    return { username, password }
  }

  return {
    loginOf(projectId) {
      const known = logins.get(projectId)
      if (known) return known
      const made = make(projectId)
      logins.set(projectId, made)
      made.catch(() => logins.delete(projectId))
      return made
    },

    async forget(projectId) {
      logins.delete(projectId)
      const username = usernameOf(projectId)
      try {
        for (const kind of ['quota', 'user']) await engine.command(`drop ${kind} if exists ${username}`)
      } catch (error) {
        if (!isRefusal(error)) throw error
      }
    },
  }
}

function usernameOf(projectId: number): string {
  return `${PROJECT_DATABASE_PREFIX}${projectId}`
}

function isRefusal(error: unknown): error is ServiceError {
  return error instanceof ServiceError && CANNOT.test(error.message)
}

/**
 * The statements that make a project's user. Its databases begin alike, which a grant can say since ClickHouse 24.10:
 * so a version that is made later needs none. The engine is told the password's hash only.
 */
export function userStatements(
  username: string,
  password: string,
  limits: ProjectUserLimits,
): readonly string[] {
  const timeoutSeconds = limits.timeoutMs / 1000
  const hash = createHash('sha256').update(password).digest('hex')
  const identity = `identified with sha256_hash by '${hash}' host any settings profile '${PROFILE}'`
  const running = limits.projectRunningMax * 2 * CONCURRENT_PROCESSES
  return [
    `create settings profile if not exists ${PROFILE}`,
    `alter settings profile ${PROFILE} settings readonly = 2 const, allow_ddl = 0 const,
       allow_introspection_functions = 0 const, max_execution_time = ${timeoutSeconds} max ${timeoutSeconds},
       max_memory_usage = ${limits.memoryBytesMax} max ${limits.memoryBytesMax},
       max_rows_to_read = ${limits.rowsReadMax} max ${limits.rowsReadMax},
       max_ast_elements = 50000 max 50000, max_ast_depth = 1000 max 1000, max_query_size = 1000000 max 1000000,
       max_concurrent_queries_for_user = ${running} const`,
    `create user if not exists ${username} ${identity}`,
    `alter user ${username} ${identity}`,
    `grant select on ${username}_v*.* to ${username}`,
    // What the engine asks of some table functions that only compute; the profile forbids to keep anything.
    `grant create temporary table on *.* to ${username}`,
    `create quota if not exists ${username} keyed by user_name for interval 1 hour no limits to ${username}`,
    `alter quota ${username} keyed by user_name for interval 1 hour max execution_time = ${3600 * running} to ${username}`,
  ]
}
