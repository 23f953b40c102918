import * as fc from 'fast-check'

/** A statement with the columns `x UInt64` and `y String`, so that each may stand wherever another does. */
export interface RandomStatement {
  readonly text: string
  /** Does a table outside of the project stand in it, or something else that is not allowed? */
  readonly isHostile: boolean
}

/** Spellings of a table of another project, of the engine, and ways round a name. */
const DECOYS: readonly string[] = [
  'millrace_p912_v1.Secret',
  '`millrace_p912_v1`.Secret',
  '`millrace_p912_v1` . `Secret`',
  '"millrace_p912_v1"."Secret"',
  'millrace_p912_v1 /* */ . /* */ Secret',
  'millrace_p912_v1.-- \n Secret',
  'millrace_p912_v1\n.\nSecret final',
  'millrace_p912_v1_facts.event_Secret',
  'millrace_p911_v1_facts.event_Transfer',
  '`millrace_p912_v1.Secret`',
  '{db:Identifier}.Secret',
  'Secret',
  'ＭillraceSecret',
  'system.one',
  '"system"."one"',
  'system /**/ . tables',
  'information_schema.tables',
  'INFORMATION_SCHEMA.TABLES',
  '_temporary_and_external_tables.t',
  "merge('millrace_p912_v1', 'Secret')",
  "merge(REGEXP('millrace_p.*'), '.*')",
  "remote('127.0.0.1', millrace_p912_v1.Secret)",
  "cluster('default', millrace_p912_v1, Secret)",
  'loop(millrace_p912_v1.Secret)',
  "mergeTreeIndex('millrace_p912_v1_facts', 'event_Secret')",
  "file('/etc/passwd', 'LineAsString')",
  "url('http://127.0.0.1/', 'LineAsString')",
  "executable('id', 'TSV', 'x String')",
  'view(select * from millrace_p912_v1.Secret)',
  '(select * from (select * from millrace_p912_v1.Secret))',
]

/** Expressions that reach out, of an `x` that is in sight. */
const HOSTILE_EXPRESSIONS: readonly string[] = [
  "dictGetOrDefault('millrace_p912_v1.Secret', 'secret', x, '')",
  "joinGet('millrace_p912_v1.Secret', 'secret', x)",
  "hasColumnInTable('millrace_p912_v1', 'Secret', 'secret')",
  "file('/etc/passwd')",
  "getSetting('max_memory_usage')",
  "arrayMap(v -> file(v), ['/etc/passwd'])[1]",
  'x in millrace_p912_v1.Secret',
  'x in (millrace_p912_v1.Secret)',
  'x global not in `millrace_p912_v1`.`Secret`',
  'x in (select secret from millrace_p912_v1.Secret)',
  '(select max(secret) from millrace_p912_v1.Secret)',
  'exists(select 1 from millrace_p912_v1.Secret)',
  'sleep(0)',
  'hostName()',
]

/** Aliases, most of which hide a name that means something elsewhere. One that is a database of the engine is refused before a dot. */
const ALIASES = ['t', 'Transfer', '`odd name`', '"Secret"', 'one', 'tables', 'numbers', '`a b`', 'url']

const NAMED_LAMBDA = '(v -> v + three) as add'
const OWN: readonly string[] = [
  'select id as x, address as y from Transfer',
  'select `Transfer`.`id` as x, "Transfer"."address" as y from `Transfer` where id % 3 = 0',
  'SeLeCt T.id as x, T.chain as y from/**/"Transfer"as T -- the end\n where T.id < 20',
  "select toUInt64(value) as x, 'odd' as y from `odd name`",
  'select toUInt64(o.value) as x, toString(o.value) as y from "odd name" o',
  'select number as x, toString(number) as y from numbers(5)',
  'select generate_series as x, hex(generate_series) as y from generate_series(1, 9, 2)',
  "select x, y from values('x UInt64, y String', (1, 'a'), (2, 'system.tables'))",
  "select toUInt64(1) as x, 'millrace_p912_v1.Secret' as y",
  `with 3 as three, ${NAMED_LAMBDA} select toUInt64(add(id)) as x, address as y from Transfer where id < 5`,
  "with recursive r as (select toUInt64(1) as n union all select n + 1 from r where n < 4) select n as x, 'r' as y from r",
  'select length(ys) as x, y from (select groupArray(address) as ys from Transfer) array join ys as y',
]

interface Grammar {
  statement: RandomStatement
  source: RandomStatement
}

/** Statements of joins, unions, common tables, sub-queries, lambdas and windows, each nested into the others. */
export const randomStatement: fc.Arbitrary<RandomStatement> = fc.letrec(
  (tie: fc.LetrecTypedTie<Grammar>): fc.LetrecValue<Grammar> => {
    const source: fc.Arbitrary<RandomStatement> = tie('source')
    const alias = fc.constantFrom(...ALIASES)
    const one = (write: (inner: string, name: string) => string): fc.Arbitrary<RandomStatement> =>
      fc
        .tuple(source, alias)
        .map(([inner, name]) => ({ text: write(inner.text, name), isHostile: inner.isHostile }))
    const two = (write: (a: string, b: string, name: string) => string): fc.Arbitrary<RandomStatement> =>
      fc.tuple(source, source, alias).map(([a, b, name]) => ({
        text: write(a.text, b.text, name),
        isHostile: a.isHostile || b.isHostile,
      }))
    const own = fc.constantFrom(...OWN).map((text) => ({ text, isHostile: false }))
    const decoy = fc
      .constantFrom(...DECOYS)
      .map((table) => ({ text: `select toUInt64(1) as x, 'a' as y from ${table}`, isHostile: true }))
    const reaching = fc
      .tuple(source, fc.constantFrom(...HOSTILE_EXPRESSIONS))
      .map(([{ text }, expression]) => ({
        text: `select x, toString(${expression}) as y from (${text})`,
        isHostile: true,
      }))
    return {
      source: fc.oneof(
        { maxDepth: 4, depthSize: 'small' },
        { arbitrary: own, weight: 12 },
        { arbitrary: decoy, weight: 1 },
        { arbitrary: reaching, weight: 1 },
        { arbitrary: tie('statement'), weight: 10 },
      ),
      statement: fc.oneof(
        one((q, t) => `select ${t}.x as x, ${t}.y as y from (${q}) as ${t}`),
        one((q, t) => `with ${t} as (${q}) select x, y from ${t} where x in (select x from ${t})`),
        one(
          (q) =>
            `select arraySum(arrayMap(v -> v + x, [1, 2])) as x, arrayStringConcat(arrayMap((a, b) -> concat(a, b, y), ['p'], ['q'])) as y from (${q})`,
        ),
        one((q) => `select count() as x, y from (${q}) group by y having x > 0`),
        one((q) => `select x, toString(row_number() over (partition by y order by x)) as y from (${q})`),
        // A named lambda is not found again in there, and so refused.
        one((q) => (q.includes(NAMED_LAMBDA) ? `select x, y from (${q})` : `select x, y from view(${q})`)),
        one((q) => `select toUInt64((select count() from (${q}))) as x, 'scalar' as y`),
        one(
          (q, t) => `select x, y from (select * from (${q}) as ${t}) where exists(select 1 from numbers(1))`,
        ),
        one((q) => `select * apply (max) from (${q})`),
        one((q) => `select max(x) as x, max(y) as y from (${q}) group by x % 2 with totals`),
        two((a, b) => `select x, y from (${a}) union all (${b})`),
        two((a, b) => `(${a}) union distinct (${b})`),
        two((a, b) => `(${a}) except (${b})`),
        two((a, b) => `(${a}) intersect (${b})`),
        two(
          (a, b, t) =>
            `select ${t}.x as x, r.y as y from (${a}) as ${t} inner join (${b}) as r on ${t}.x = r.x`,
        ),
        two(
          (a, b, t) =>
            `select ${t}.x as x, ${t}.y as y from (${a}) as ${t} left semi join (${b}) as r using (x)`,
        ),
        two(
          (a, b, t) =>
            `select count() as x, 'cross' as y from (select * from (${a}) limit 3) as ${t}, (select * from (${b}) limit 3) as r`,
        ),
        two((a, b) => `select x, y from (${a}) where x global not in (select x from (${b}))`),
        two(
          (a, b, t) =>
            `with ${t} as (${a}), later as (select x, y from ${t} union all ${b}) select max(x) as x, y from later group by y`,
        ),
      ),
    }
  },
).statement
