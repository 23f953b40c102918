import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { SQL_LIMITS } from '../../src/analytics/sql-limits.ts'
import type { FactEngine } from '../../src/clickhouse/fact-engine.ts'
import { createProjectUsers, userStatements } from '../../src/clickhouse/project-users.ts'
import { createSqlEngine } from '../../src/clickhouse/sql-engine.ts'
import { startTestEngine, type TestEngine } from '../support/fact-engine.ts'
import { fillProject, sqlProject } from './sql-fixture.ts'

/** No grant for it, or a constraint of the profile. */
const REFUSED = /privilege|readonly|should not be|cannot execute/i
const project = sqlProject(957)
const other = sqlProject(958)
let test: TestEngine

beforeAll(async () => {
  test = await startTestEngine()
  await fillProject(test.engine, project)
  await fillProject(test.engine, other)
})

afterAll(() => test.stop())

/** An engine that takes the statements about users, and runs what is run in a user's name in its own. */
function recordingEngine(commands: string[]) {
  const runs: Parameters<FactEngine['stream']>[2][] = []
  const engine: FactEngine = {
    ...test.engine,
    command: async (sql, options) => {
      if (/\b(user|quota|profile|grant)\b/.test(sql)) commands.push(sql)
      else await test.engine.command(sql, options)
    },
    stream: (sql, format, options) => {
      runs.push(options)
      const { login: _, ...own } = options ?? {}
      return test.engine.stream(sql, format, own)
    },
  }
  return { engine, runs }
}

const usersOf = (engine: FactEngine, warnings: unknown[] = []) =>
  createProjectUsers({
    engine,
    secret: Buffer.from('the same for all processes'),
    limits: SQL_LIMITS,
    log: { warn: (fields: unknown) => warnings.push(fields) } as never,
  })

const execution = {
  scope: { projectId: project.id, version: 1, isActive: true },
  parameters: {},
  limits: SQL_LIMITS,
  isLenient: false,
  signal: AbortSignal.timeout(60_000),
}

async function textOf(blocks: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = []
  for await (const block of blocks) parts.push(block)
  return Buffer.concat(parts).toString()
}

it('makes statements that the engine’s parser takes, with the hash of the password alone (SQ-2)', async () => {
  const statements = userStatements('millrace_p957', 'the password', SQL_LIMITS)
  for (const sql of statements) {
    const parameters = { sql }
    const [row] = await test.engine.rows<{ text: string }>(
      'select formatQuerySingleLine({sql:String}) as text',
      { parameters },
    )
    expect(row?.text).toMatch(/^(CREATE|ALTER|GRANT) /)
    expect(sql).not.toContain('the password')
  }
  expect(statements.filter((sql) => sql.startsWith('grant select'))).toEqual([
    'grant select on millrace_p957_v*.* to millrace_p957',
  ])
})

it('runs a project’s statements in the name of its user, who brings the read-only mode with him (SQ-2)', async () => {
  const commands: string[] = []
  const { engine, runs } = recordingEngine(commands)
  const sql = createSqlEngine(engine, usersOf(engine))
  const again = createSqlEngine(engine, usersOf(engine))
  for (const each of [sql, sql, again]) {
    expect(await textOf((await each.executeWrapped('select count() from Transfer', execution)).blocks)).toBe(
      '[1000]\n',
    )
  }
  const logins = runs.map((options) => options?.login)
  expect(logins[0]).toEqual({ username: 'millrace_p957', password: expect.stringMatching(/^[\w-]{43}$/) })
  expect(logins).toEqual([logins[0], logins[0], logins[0]])
  // What the profile fixes must not be sent: the engine refuses to change it, even to the same in a read-only mode.
  for (const options of runs) expect(options?.settings).not.toHaveProperty('readonly')
  // Once a process.
  expect(commands).toHaveLength(userStatements('', '', SQL_LIMITS).length * 2)
})

it('makes them on an engine that lets it, where they reach their project alone; else warns once and goes on (SQ-2)', async () => {
  const warnings: unknown[] = []
  const secret = randomBytes(32)
  const users = createProjectUsers({
    engine: test.engine,
    secret,
    limits: SQL_LIMITS,
    log: { warn: (fields: unknown) => warnings.push(fields) } as never,
  })
  const login = await users.loginOf(project.id)
  const sql = createSqlEngine(test.engine, users)
  expect(await textOf((await sql.executeWrapped('select count() from Transfer', execution)).blocks)).toBe(
    '[1000]\n',
  )
  if (login === null) {
    expect(await users.loginOf(other.id)).toBeNull()
    expect(warnings).toEqual([{ reason: expect.stringMatching(/privileges/) }])
  } else {
    // As the user itself, beside every check of ours.
    for (const statement of [
      'select * from millrace_p958_v1.Transfer',
      'select * from millrace_p958_v1_facts.event_Transfer',
      'select * from system.users',
      "select * from url('http://127.0.0.1', CSV, 'a String')",
      "select * from file('/etc/passwd')",
      'create table millrace_p957_v1.made (a Int8) engine = Memory',
      'drop view millrace_p957_v1.Transfer',
      'set readonly = 0',
      'select 1 settings max_execution_time = 100000',
    ]) {
      await expect(test.engine.command(statement, { login }), statement).rejects.toThrow(REFUSED)
    }
    expect(warnings).toEqual([])
  }
  await users.forget(project.id)
  await users.forget(other.id)
})
