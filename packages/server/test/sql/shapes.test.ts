import * as fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAdmission, type Admit } from '../../src/analytics/admission.ts'
import { admitStatement, type AdmittedStatement } from '../../src/analytics/admit-statement.ts'
import { askAllowedFunctions } from '../../src/analytics/allowed-functions.ts'
import type { Execution, SqlEngine, SqlParameters } from '../../src/analytics/sql-engine.ts'
import { shapeOf, fillShape } from '../../src/analytics/statement-shape.ts'
import { createSqlEngine } from '../../src/clickhouse/sql-engine.ts'
import { ServiceError } from '../../src/platform/errors.ts'
import type { TestEngine } from '../support/fact-engine.ts'
import { HOSTILE_QUERIES, HOSTILE_TEXTS } from './hostile-statements.ts'
import { randomStatement } from './random-statements.ts'
import { sqlProject, startSqlTest, type SqlFixture } from './sql-fixture.ts'

const own = sqlProject(921)
const foreign = sqlProject(922)
let test: TestEngine
let sql: SqlFixture
let stop: () => Promise<void>
let engine: SqlEngine
let functions: ReturnType<typeof askAllowedFunctions>
let parsedCount = 0
let admit: Admit

beforeAll(async () => {
  ;({ test, sql, stop } = await startSqlTest(own, foreign))
  const plain = createSqlEngine(test.engine)
  engine = {
    ...plain,
    parseWrapped: (...given) => {
      parsedCount++
      return plain.parseWrapped(...given)
    },
  }
  functions = askAllowedFunctions(plain)
})

beforeEach(() => {
  admit = createAdmission(engine, functions)
})

afterAll(() => stop())

/** Admits statements one behind the other; for each whether the engine was asked. */
async function asked(...statements: readonly (string | [string, SqlParameters])[]): Promise<boolean[]> {
  const answers: boolean[] = []
  for (const each of statements) {
    const before = parsedCount
    const [text, parameters] = typeof each === 'string' ? [each, {}] : each
    await admit(text, parameters)
    answers.push(parsedCount > before)
  }
  return answers
}

/** The admission, or the refusal, without what only names the shape. */
async function outcomeOf(
  admission: Promise<AdmittedStatement>,
): Promise<Omit<AdmittedStatement, 'shape'> | { readonly refused: string }> {
  try {
    const { shape: _shape, ...statement } = await admission
    return statement
  } catch (error) {
    if (error instanceof ServiceError) return { refused: error.code }
    throw error
  }
}

const fully = async (text: string): Promise<AdmittedStatement> =>
  (await admitStatement(engine, await functions(), text, {})).statement

describe('a statement that differs from earlier ones in plain values alone', () => {
  it.each([
    (n: number) => `select ${n}`,
    (n: number) => `select * from Transfer limit 1000 offset ${n}`,
    (n: number) => `select * from Transfer limit ${n} offset 5`,
    (n: number) =>
      `select id, -${n} from Transfer where id > ${n * 2} and amount * ${n}.25 > 1.5 order by id limit ${n}`,
    (n: number) =>
      `select count() from Transfer where timestamp >= '2024-01-${n} 00:00:00' and address = 'a${n}'`,
    (n: number) =>
      `select count() from Transfer where timestamp >= toDateTime('2024-01-${n} 00:00:00', 'UTC')`,
    (n: number) => `select count() from Transfer where chain in ('${n}', '10') and id in (1, ${n}, 3)`,
    (n: number) =>
      `select toStartOfInterval(timestamp, interval ${n} minute) as t, sumIf(id, id > ${n}) from Transfer group by t`,
    (n: number) =>
      `with big as (select id from Transfer where id > ${n}) select if(id > ${n}, 1, 2) from big join (select ${n} as id) as b using id`,
    (n: number) =>
      `select id from Transfer where id = ${n} union all select id from Transfer where address like '${n}%'`,
  ])('asks the engine for the first two only: %s', async (statement) => {
    expect(await asked(statement(7), statement(8), statement(9), statement(11))).toEqual([
      true,
      true,
      false,
      false,
    ])
    expect(await outcomeOf(admit(statement(12), {}))).toEqual(await outcomeOf(fully(statement(12))))
  })

  it('holds for other values of its placeholders', async () => {
    const text = 'select * from Transfer where id = {id:UInt64} and address = {address:String} limit 5'
    const given = (id: number): [string, SqlParameters] => [text, { id, address: `a'\\${id}` }]
    expect(await asked(given(1), given(2), given(3))).toEqual([true, true, false])
    // Another set of names is another shape.
    await expect(admit(text, { id: 4 })).rejects.toThrow('address')
  })

  it('is told of a value that its placeholder cannot take as the first one is (SQ-6)', async () => {
    const run = (id: unknown, text: string): Promise<unknown> => sql.run({ sql: text, parameters: { id } })
    const first = await run('x', 'select {id:UInt16} as a').catch((error: unknown) => error)
    for (const id of [1, 2, 3]) await run(id, 'select {id:UInt16} as b')
    const later = await run('x', 'select {id:UInt16} as b').catch((error: unknown) => error)
    expect(first).toMatchObject({ code: 'invalid_argument' })
    expect((later as ServiceError).message).toBe((first as ServiceError).message)
  })

  it('gives its own rows', async () => {
    const answers: unknown[] = []
    for (const id of [3, 4, 5, 6]) {
      const { page } = await sql.run({
        sql: `select id, ${id}.5 as half from Transfer where id in (${id}, ${id + 100}) order by id limit 1`,
      })
      answers.push(...page.rows)
    }
    expect(answers).toEqual([3, 4, 5, 6].map((id) => ({ id, half: id + 0.5 })))
  })

  it('is refused with its own place when a value is wrong', async () => {
    for (const day of ['1', '2', 'x']) {
      const run = sql.run({ sql: `select count() from Transfer where timestamp > '2024-01-0${day}'` })
      if (day === 'x') await expect(run).rejects.toMatchObject({ code: 'invalid_argument' })
      else await run
    }
  })
})

describe('a statement is read each time', () => {
  it.each([
    [
      'a constant may decide what is read',
      (n: number) => `select if(${n} = 3, (select max(id) from Transfer), 1)`,
    ],
    [
      'by a name that is a query',
      (n: number) => `with (select max(id) from Transfer) as m select if(${n} = 3, m, 1)`,
    ],
    ['exists', (n: number) => `select ${n}, exists(select 1 from Transfer)`],
    ['a query on the right of IN', (n: number) => `select ${n} in (select id from Transfer)`],
    [
      'a table on the right of IN',
      (n: number) => `select toUInt64(${n}) in ids from (select [toUInt64(1)] as ids)`,
    ],
    ['a table function', (n: number) => `select * from numbers(${n})`],
    ['a query as an argument', (n: number) => `select * from view(select ${n})`],
    ['an explanation', (n: number) => `select * from (explain select ${n})`],
    ['a number that the parser makes a text', (n: number) => `select ${n}::UInt32`],
    ['a number of a type', (n: number) => `select cast(5 as Decimal(38, ${n}))`],
    ['a text that names a function', (n: number) => `select arrayReduce('topK(${n})', [1, 2])`],
    ['a text that names a type', (n: number) => `select cast(${n}, 'Decimal(38, ${n})')`],
    ['a text that names a column', (n: number) => `select columns('a${n}|id') from Transfer`],
    ['a text alone', (n: number) => `select 'a${n}'`],
    ['a name', (n: number) => `select id as "a ${n}" from Transfer`],
    ['a place in a tuple', (n: number) => `select tuple(1, 2, 3, 4, 5, 6, 7, 8, 9, 10).${n}`],
    ['a comment', (n: number) => `select 1 /* ${n} */`],
    ['a here-document', (n: number) => `select $a$ ${n} $a$`],
    ['a text with an escape', (n: number) => `select address = 'a\\'${n}' from Transfer`],
    ['a doubled quote', (n: number) => `select address = 'a''${n}' from Transfer`],
    ['an exponent', (n: number) => `select 1e${n}`],
    ['another base', (n: number) => `select 0x${n}`],
    ['leading zeros', (n: number) => `select 00${n}`],
    ['too many digits', (n: number) => `select 1234567890123456${n}`],
    ['a lambda of its own', (n: number) => `with x -> x + ${n} as next select next(id) from Transfer`],
    ['one that asks for columns', (n: number) => `describe (select ${n})`],
  ])('%s', async (_, statement) => {
    expect(await asked(statement(2), statement(3), statement(4))).toEqual([true, true, true])
  })

  it('that begins like another and goes on otherwise', async () => {
    await asked(
      "select id = 1 from Transfer where address = 'a'",
      "select id = 2 from Transfer where address = 'b'",
    )
    for (const text of [
      "select id = 3 from Transfer where address = 'c' union all select secret from millrace_p922_v1.Secret where secret = 'd'",
      "select id = 3 from Transfer where address = 'c'' union all select 1 from system.one where ''' = 'd'",
      "select id = 3 from millrace_p922_v1.Secret where address = 'a'",
      "select id = 3 -- from Transfer where address = 'a'\n from system.one",
    ]) {
      expect(await outcomeOf(admit(text, {}))).toEqual(await outcomeOf(fully(text)))
    }
  })
})

const RUN: Execution = {
  scope: { projectId: own.id, version: 1, isActive: true },
  parameters: {},
  limits: { timeoutMs: 10_000, memoryBytesMax: 2 ** 30, rowsReadMax: 1_000_000, resultBytesMax: 2 ** 24 },
  isLenient: false,
  signal: new AbortController().signal,
}

/** The tables of the resolved form, or why there is none. */
async function tablesOf(text: string): Promise<readonly string[]> {
  try {
    const { tables, tableFunctions } = await engine.resolve(text, RUN)
    return [...new Set([...tables, ...tableFunctions])].toSorted()
  } catch (error) {
    if (error instanceof ServiceError) return [error.code]
    throw error
  }
}

const literal = fc.oneof(
  fc.nat().map(String),
  fc.nat({ max: 9_999 }).map((n) => `${n}.5`),
  fc.stringMatching(/^[ !#-&(-[\]-~]{1,12}$/).map((text) => `'${text}'`),
)

/** Another literal of the same kind for each of a statement's. */
function varied(text: string, given: readonly string[]): string | null {
  const shape = shapeOf(text)
  if (shape === null || shape.literals.length === 0) return null
  let n = 0
  const others = shape.literals.map((old) => {
    const other = given
      .slice(n++ % given.length)
      .concat(given)
      .find((each) => shapeOf(`select ${each}`)?.literals[0]?.kind === old.kind)
    return other ?? old.text
  })
  return fillShape(shape.parts, others)
}

it(
  'says of random statements with random values what the whole check says (SQ-2)',
  { timeout: 240_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(
        randomStatement,
        fc.array(literal, { minLength: 4, maxLength: 12 }),
        async ({ text: inner, isHostile }, literals) => {
          // With a few values that can be told apart from the rest, whatever stands inside.
          const text = `select x, y, 7 as n from (${inner}\n) where x >= 3.5 and y <> 'b' limit 900`
          const texts = [0, 1, 2].map((turn) => varied(text, literals.slice(turn)))
          let shared = 0
          for (const each of [text, ...texts]) {
            if (each === null) continue
            const given = await outcomeOf(admit(each, {}))
            expect(given).toEqual(await outcomeOf(fully(each)))
            if (isHostile || (await admit(each, {})).shape === undefined) continue
            shared++
            // What the second look would find holds for all of them as well.
            expect(await tablesOf(each)).toEqual(await tablesOf(text))
          }
          // Only a statement whose check is shared counts as a run.
          fc.pre(shared > 0)
        },
      ),
      { numRuns: 20, maxSkipsPerRun: 50 },
    )
  },
)

it('lets no hostile statement in by the shape of itself (SQ-2)', { timeout: 240_000 }, async () => {
  for (const text of [...HOSTILE_QUERIES, ...HOSTILE_TEXTS]) {
    const other = varied(text, ['7', '8.5', "'x y'"])
    for (const each of [text, other, varied(text, ['9', '1.5', "'z'"])]) {
      if (each === null) continue
      expect(await outcomeOf(admit(each, {})), each).toEqual(await outcomeOf(fully(each)))
    }
  }
})
