import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { failure } from '../support/failure.ts'
import { sqlProject, startSqlTest, type SqlFixture } from './sql-fixture.ts'

const own = sqlProject(911)
const foreign = sqlProject(912)

let sql: SqlFixture
let stop: () => Promise<void>

beforeAll(async () => {
  ;({ sql, stop } = await startSqlTest(own, foreign))
})

afterAll(() => stop())

const WORKING = [
  'select 1',
  'select 1;',
  'SELECT 1 ; \n',
  'select 1 -- with a comment',
  '/* before */ select 1 /* after */',
  '-- before\nselect 1',
  '(select 1)',
  'select * from Transfer limit 3',
  'select * from `Transfer` limit 3;',
  'select * from "Transfer" limit 3',
  'select * from `odd name`',
  'from Transfer select id limit 1',
  'select count() from Transfer final',
  'select t.id, u.id from Transfer t join Transfer u on t.id = u.id limit 3',
  'select a.id from Transfer a, Transfer b where a.id = b.id limit 1',
  'select a.* from Transfer a asof join Transfer b on a.chain = b.chain and a.id >= b.id limit 1',
  'with x as (select id from Transfer) select count() from x',
  'with recursive r as (select 1 as n union all select n + 1 from r where n < 5) select * from r',
  'with 5 as five, (select max(id) from Transfer) as top select five, top',
  'select id from Transfer union all select 1',
  'select 1 union distinct select 2 intersect select 2 except select 3',
  'select id from Transfer where id in (select id from Transfer where id < 5)',
  `select id from Transfer where chain in ('1', '10') and id not in (1, 2)`,
  'select exists(select 1 from Transfer)',
  'select id from Transfer where id = any(select id from Transfer) limit 1',
  'select chain, sum(amount) as total from Transfer group by chain having total > 0 order by total desc',
  'select chain, count() from Transfer group by rollup(chain)',
  'select chain, count() from Transfer group by grouping sets ((chain), ())',
  'select id, row_number() over (partition by chain order by id) as n, lag(id) over w from Transfer window w as (order by id) limit 3',
  'select sumIf(id, id > 5), countDistinct(chain), uniqExactIf(id, 1), quantile(0.9)(id), quantilesTDigest(0.5, 0.9)(id), argMax(chain, id) from Transfer',
  'select groupArray(3)(id), anyLast(id), topK(2)(chain), avgOrDefault(id), sumMergeState(s) from (select id, chain, sumState(id) as s from Transfer group by id, chain)',
  'select toStartOfHour(timestamp) as hour, count() from Transfer group by hour order by hour limit 2',
  `select * from Transfer where timestamp >= toDateTime('2024-01-01 00:00:00') and timestamp >= 1682434800 limit 1`,
  `select toStartOfInterval(timestamp, interval 1 day, 'America/Los_Angeles'), now() - interval 1 day from Transfer limit 1`,
  "select case when id > 5 then 1 else 0 end, case chain when '1' then 2 else 3 end, if(id > 1, 2, 3), multiIf(id > 1, 1, 2) from Transfer limit 1",
  'select id::String, cast(id as Float64), toDecimal256(amount, 2), toString(id), amount / 1e18 from Transfer limit 1',
  "select arrayMap(x -> x + 1, [1, 2, 3]), arrayJoin([1, 2]), tuple(1, 2).1, [1, 2][1], map('a', 1)['a']",
  'select * except (address) from Transfer limit 1',
  'select * replace (id + 1 as id) from Transfer limit 1',
  `select columns('^a') from Transfer limit 1`,
  'select id from Transfer order by id with fill from 0 to 10 limit 5',
  'select id from Transfer order by id limit 1 by chain',
  'select distinct chain from Transfer order by all',
  'select id, x from Transfer array join [1, 2] as x limit 3',
  'select number from numbers(5)',
  'select version()',
  'select * from generate_series(1, 5)',
  `select * from values('a UInt8, b String', (1, 'x'), (2, 'y'))`,
  'select * from (values (1, 2), (3, 4))',
  'select lower(hex(SHA256(address))), keccak256(address), JSONExtractString(\'{"a":"b"}\', \'a\') from Transfer limit 1',
  `select 'system.tables', 'file(''/etc/passwd'')', "id" from Transfer limit 1`,
  `select replaceRegexpAll(address, '\\\\d+', '\\n'), match(address, '^[0-9]+$'), address like '%a%' from Transfer limit 1`,
  'select id as `a b`, address as "c d" from Transfer limit 1',
  'select * apply (max) from Transfer',
  'select columns(id, amount) apply quantile(0.9) from Transfer',
  'select * except (chain, address) apply(toString) apply(length) from Transfer limit 1',
  'with x -> x + 1 as next select next(id) from Transfer limit 1',
  'with (x, y) -> x + y as f, x -> f(x, x) as g select g(id) from Transfer limit 1',
  'select id in t.list from (select 1 as id, [1, 2] as list) as t',
  'describe (select id, chain from Transfer)',
  'desc table (select 1 as one)',
  'DESCRIBE TABLE (select * from `odd name`) ;',
  'select currentDatabase()',
  `select 'APPLY file' as text`,
  'select database()',
  'select * from zeros(2)',
  'select * from zeros() limit 2',
  'explain select * from Transfer',
  'explain ast select 1',
  'explain pipeline select count() from Transfer',
  'show tables',
  `show tables like 'T%'`,
  'describe Transfer',
  'desc table `odd name`',
  'exists Transfer',
  'select geoDistance(1, 1, 2, 2), greatest(1, 2), round(1.5), pow(2, 3), bitAnd(1, 3), rand() > 0, generateUUIDv4() is not null',
  "select dateDiff('day', toDate('2024-01-01'), today()) > 0, formatDateTime(now(), '%Y') != ''",
]

const REFUSED = [
  '',
  ' ; ',
  'select',
  'selec 1',
  'select 1; select 2',
  'select 1; drop table Transfer',
  'select 1) union all (select 2',
  'select 1), (select 2',
  'select 1) where (1',
  'select 1) as t (a',
  'select 1 as a) t (b',
  'select 1) union all select * from (select 2',
  'select 1) settings max_threads = 1 union all select * from (select 1',
  'select 1 /* not closed',
  `select 1 into outfile '/tmp/x'`,
  'select 1 format JSON',
  'select 1 settings max_threads = 1',
  'select * from (select 1 settings readonly = 0)',
  'insert into Transfer select 1',
  'create table x (a UInt8) engine = Memory',
  'drop table Transfer',
  'alter table Transfer delete where 1',
  'truncate table Transfer',
  'system shutdown',
  'set readonly = 0',
  'use system',
  'kill query where 1',
  'attach database x',
  'rename table Transfer to y',
  `select file('/etc/passwd')`,
  `select FILE('/etc/passwd')`,
  `select * from file('/etc/passwd', 'LineAsString', 'x String')`,
  "select * from file('/etc/passwd', LineAsString)",
  `select * from url('http://127.0.0.1/', CSV, 'x String')`,
  `select * from s3('http://127.0.0.1/x')`,
  `select * from remote('127.0.0.1', system.one)`,
  `select * from cluster('default', system.one)`,
  `select * from mysql('a', 'b', 'c', 'd', 'e')`,
  `select * from postgresql('a', 'b', 'c', 'd', 'e')`,
  `select * from sqlite('/tmp/x', 'y')`,
  `select * from executable('x', TSV, 'a String')`,
  `select * from filesystem('/etc')`,
  "select * from merge('system', '.*')",
  "select * from merge('.*')",
  "select * from dictionary('x')",
  `select * from format(JSONEachRow, '{"a":1}')`,
  "select * from mergeTreeIndex('millrace_p912_v1_facts', 'event_Transfer')",
  "select * from viewIfPermitted(select 1 else null('x UInt8'))",
  'select * from loop(system.one)',
  'select * from system.tables',
  'select * from `system`.`tables`',
  'select * from information_schema.tables',
  'select * from `system.tables`',
  'select * from millrace_p912_v1.Transfer',
  'select * from millrace_p912_v1_facts.event_Transfer',
  'select * from view(select * from system.one)',
  'select 1 in system.one',
  'select 1 in (system.one)',
  'select in(1, system.one)',
  'select 1 where 1 in millrace_p912_v1.Transfer',
  'select 1 global not in system.one',
  'with system.one as x select 1 in x',
  'with x as (select * from system.one) select * from x',
  'select (select count() from system.tables)',
  'select exists(select 1 from system.tables)',
  'select 1 from Transfer join system.one on 1',
  "select * replace (file('/etc/passwd') as id) from Transfer",
  'select * apply (sleep) from Transfer',
  'select * apply (file) from Transfer',
  'select * apply `file` from Transfer',
  'select * apply (`sleep`), 1 as APPLY, APPLY in (1) from Transfer',
  `select * apply (max), columns('^a') apply (file) from Transfer`,
  'select * apply (x -> file(x)) from Transfer',
  'select * apply (max) apply (x -> sleep(1)) from Transfer',
  `select * apply (max, 'p_') apply file from Transfer`,
  'select * apply (notAFunction) from Transfer',
  "with x -> x as file select file('/etc/passwd')",
  "with x -> file(x) as f select f('/etc/passwd')",
  'with x -> x as sleep select sleep(1)',
  'select (with x -> x as f select f(1)), f(1)',
  'select id in system.one from Transfer as one',
  'select id in one.dummy from system.one as one',
  'select id in system.one from Transfer as system',
  'select id in t.u.list from (select 1 as id) as t',
  'describe (select * from system.one)',
  "describe (select file('/etc/passwd'))",
  'describe (select 1), (select 2)',
  'describe (select 1) where 1',
  'describe (insert into Transfer select 1)',
  `select currentDatabase('x')`,
  "select arrayMap(x -> file(x), ['/etc/passwd'])",
  'select 1 order by sleep(1)',
  'select 1 limit (select sleep(1))',
  'select sleep(1)',
  'select sleepEachRow(1) from Transfer',
  `select dictGet('x', 'y', 1)`,
  `select joinGet('system.one', 'dummy', 1)`,
  'select hostName()',
  `select getSetting('max_threads')`,
  `select getMacro('x')`,
  'select addressToSymbol(1)',
  "select demangle('x')",
  'select currentUser()',
  'select filesystemAvailable()',
  `select hasColumnInTable('system', 'one', 'dummy')`,
  `select aiGenerate('x', 'y')`,
  `select catboostEvaluate('/etc/passwd', 1)`,
  'select notAFunction(1)',
  'select 1 as `x\n Function file`',
  'select 1 as "x\\n Function file"',
  'select `a (children 2)\n  Identifier b`, 1',
  'show databases',
  'show tables from system',
  'show processlist',
  'show create table Transfer',
  'show grants',
  'describe system.tables',
  "describe table file('/etc/passwd')",
  'desc (select * from system.one)',
  'exists system.tables',
  'explain insert into Transfer select 1',
  'explain select * from system.tables',
  "explain query tree select file('/etc/passwd')",
  'select * from Nothing',
  'grant all on *.* to default',
  'check table Transfer',
  'optimize table Transfer',
  'begin transaction',
  "backup table Transfer to Disk('x', 'y')",
]

describe('statements that work (SQ-1)', () => {
  it.each(WORKING)('%s', async (statement) => {
    const { page } = await sql.run({ sql: statement })
    expect(page.columns.length).toBeGreaterThan(0)
    expect(JSON.stringify(page)).not.toMatch(/millrace_p\d/)
  })
})

it('takes statements and parameters that are longer than an address may be (SQ-1, SQ-6)', async () => {
  const statement = Array.from({ length: 1500 }, (_, n) => `select ${n} as n`).join(' union all ')
  expect((await sql.run({ sql: `select sum(n) as total from (${statement})` })).page.rows).toEqual([
    { total: 1_124_250 },
  ])
  const addresses = Array.from({ length: 3000 }, (_, n) => `0x${n.toString(16).padStart(40, '0')}`)
  const listed = await sql.run({ sql: 'select length(${addresses}) as n', parameters: { addresses } })
  expect(listed.page.rows).toEqual([{ n: 3000 }])
})

it('hides what the engine calls its databases (ER-4)', async () => {
  const { page } = await sql.run({ sql: 'select currentDatabase() as a, [DATABASE()] as b' })
  expect(page.rows).toEqual([{ a: 'project', b: ['project'] }])
})

describe('says what is wrong in words about the statement, and where (ER-4)', () => {
  it.each([
    ['selct 1', /only SELECT, .* are allowed\. Maybe you meant: \['select'\]$/, undefined],
    ['drop table Transfer', /only SELECT, .* are allowed$/, undefined],
    ['select 1 +', /^Syntax error: failed at the end of the statement\. Expected an expression\.$/, 11],
    ['select (1', /^Syntax error: the \( at position 8 \(line 1, col 8\) is never closed$/, 8],
    [
      'select 1 from Transfer group',
      /^Syntax error: failed at the end of the statement\. Expected BY\.$/,
      29,
    ],
    [
      'select case when 1 then 2',
      /Expected one of: an operator, WHEN, ELSE, END, an alias, identifier\.$/,
      26,
    ],
    [
      'select 1; select 2',
      /^sqlQuery\.sql must be one statement: the ; at position 9 \(line 1, col 9\) ends it$/,
      9,
    ],
    ['select 1)', /^Syntax error: the \) at position 9 \(line 1, col 9\) closes nothing that is open$/, 9],
    ['select id from Transfer whre id = 1', /Maybe you meant: \['where'\]$/, 30],
    ["select 'abc", /\(line 1, col 8\): 'abc\.$/, 8],
    ['select cuont()', /the function cuont is not known\. Maybe you meant: \['count'\]$/, 8],
    ['select {a:UInt8}', /^sqlQuery\.parameters\.a is required/, undefined],
    ['select id from Transfer where idd > 1', /Maybe you meant: \['id'\]\.$/, 31],
    ['select t.idd from Transfer t', /Maybe you meant: \['t\.id'\]\.$/, 8],
    ['select * from Transferr', /Maybe you meant: \['Transfer'\]\.$/, 15],
    [
      "select formatDateTime(timestamp, 'x', 'No/City') from Transfer",
      /^Cannot load time zone No\/City$/,
      undefined,
    ],
  ])('%s', async (statement, message, position) => {
    const error = await failure(sql.run({ sql: statement }))
    expect(error.message).toMatch(message)
    expect((error.details[0] as { position?: number } | undefined)?.position).toBe(position)
  })
})

it('warns that totals are not among the rows (SQ-5)', async () => {
  const run = (rest: string) =>
    sql.run({ sql: `select chain, count() as n from Transfer group by chain ${rest}` })
  expect(await run('with totals')).toMatchObject({ warnings: [expect.stringContaining('WITH ROLLUP')] })
  const { page, warnings } = await run('with rollup order by n')
  expect(warnings).toEqual([])
  expect(page.rows.at(-1)).toEqual({ chain: '', n: 1000 })
  expect((await sql.run({ sql: "select 'WITH TOTALS' as `WITH TOTALS`" })).warnings).toEqual([])
})

describe('statements that are refused (SQ-2)', () => {
  it.each(REFUSED)('%s', async (statement) => {
    const error = await failure(sql.run({ sql: statement }))
    expect(error.code).toBe('invalid_argument')
    expect(error.message).not.toMatch(/explain ast|select \* from \(|root:/i)
  })

  it('leaves everything as it was', async () => {
    const { page } = await sql.run({ sql: 'select count() as n from Transfer' })
    expect(page.rows).toEqual([{ n: 1000 }])
  })

  it('refuses names that could pretend to be nodes of the syntax tree', async () => {
    for (const name of ['`x\n Function count`', '"x\\n y"', '`x (children 1)\n  Literal 1`']) {
      const error = await failure(sql.run({ sql: `select 1 as ${name}` }))
      expect(error.message).toContain('it holds a control character')
    }
  })

  it('refuses a placeholder for a name', async () => {
    const request = { sql: 'select * from {t:Identifier}', parameters: { t: 'system.tables' } }
    expect((await failure(sql.run(request))).code).toBe('invalid_argument')
  })
})

describe('messages (ER-4)', () => {
  it('names the place in the statement as it was sent', async () => {
    const error = await failure(sql.run({ sql: 'select 1\nfrom Transfer\nwhere ,' }))
    expect(error.details).toEqual([
      expect.objectContaining({ engineCode: 'SYNTAX_ERROR', position: 30, line: 3, column: 7 }),
    ])
  })

  it('tells which functions are meant perhaps, and where the unknown name stands', async () => {
    const error = await failure(sql.run({ sql: 'select id,\n toStartOfHuor(timestamp) from Transfer' }))
    expect(error.message).toContain("toStartOfHuor is not known. Maybe you meant: ['toStartOfHour'")
    expect(error.details).toEqual([
      expect.objectContaining({ line: 2, column: 2, hint: expect.arrayContaining(['toStartOfHour']) }),
    ])
    const column = await failure(sql.run({ sql: 'select addres from Transfer' }))
    expect(column.details).toEqual([expect.objectContaining({ position: 8, hint: ['address'] })])
    const table = await failure(sql.run({ sql: 'select * from Transfers' }))
    expect(table.details).toEqual([expect.objectContaining({ position: 15, hint: ['Transfer'] })])
  })

  it('names the table that does not exist', async () => {
    const error = await failure(sql.run({ sql: 'select * from Nothing' }))
    expect(error.message).toMatch(/Nothing/)
    expect(error.message).not.toMatch(/millrace/)
  })
})
