import type { FactEngine } from '../../src/clickhouse/fact-engine.ts'
import { versionDatabases } from '../../src/clickhouse/layout.ts'
import type { Project } from '../../src/projects/project.ts'

/** The tables of two public benchmarks, as far as their queries need, with made-up rows. */
const TABLES: Readonly<Record<string, string>> = {
  hits: `select toInt64(intHash64(number)) as WatchID, toInt16(number % 2) as JavaEnable,
    if(number % 3 = 0, '', concat('Title ', toString(number % 40))) as Title, toInt16(1) as GoodEvent,
    toDateTime('2013-07-01 00:00:00', 'UTC') + number * 600 as EventTime, toDate(EventTime) as EventDate,
    toInt32(62 + number % 3) as CounterID, toInt32(number % 17) as ClientIP, toInt32(number % 9) as RegionID,
    toInt64(number % 211) as UserID, concat('http://', ['google.com', 'example.org', 'yandex.ru'][1 + number % 3], '/', toString(number % 20)) as URL,
    if(number % 4 = 0, '', concat('https://www.ref', toString(number % 6), '.com/x')) as Referer,
    toInt16(number % 2) as IsRefresh, toInt16(1000 + number % 500) as ResolutionWidth, toInt16(number % 5) as AdvEngineID,
    if(number % 5 = 0, concat('phone ', toString(number % 7)), '') as MobilePhoneModel, toInt16(number % 4) as MobilePhone,
    if(number % 6 = 0, '', concat('phrase ', toString(number % 30))) as SearchPhrase, toInt16(number % 8) as SearchEngineID,
    toInt16(number % 3) as TraficSourceID, toInt16(number % 2) as IsLink, toInt16(0) as IsDownload, toInt16(0) as DontCountHits,
    toInt64(number % 13) as URLHash, toInt64(3594120000172545465) as RefererHash, toInt16(number % 900) as WindowClientWidth,
    toInt16(number % 700) as WindowClientHeight from numbers(3000)`,
  lineitem: `select toInt32(1 + number % 700) as l_orderkey, toInt32(1 + number % 40) as l_partkey, toInt32(1 + number % 10) as l_suppkey,
    toInt32(1 + number % 7) as l_linenumber, toDecimal64(1 + number % 50, 2) as l_quantity, toDecimal64(100 + number, 2) as l_extendedprice,
    toDecimal64((number % 11) / 100, 2) as l_discount, toDecimal64((number % 9) / 100, 2) as l_tax,
    ['A', 'N', 'R'][1 + number % 3] as l_returnflag, ['F', 'O'][1 + number % 2] as l_linestatus,
    toDate('1994-01-01') + number % 1500 as l_shipdate, toDate('1994-01-10') + number % 1500 as l_commitdate,
    toDate('1994-01-15') + number % 1490 as l_receiptdate, ['DELIVER IN PERSON', 'NONE'][1 + number % 2] as l_shipinstruct,
    ['AIR', 'MAIL', 'SHIP', 'AIR REG'][1 + number % 4] as l_shipmode, 'c' as l_comment from numbers(3000)`,
  orders: `select toInt32(1 + number) as o_orderkey, toInt32(1 + number % 90) as o_custkey, ['F', 'O', 'P'][1 + number % 3] as o_orderstatus,
    toDecimal64(1000 + number, 2) as o_totalprice, toDate('1993-06-01') + number % 1500 as o_orderdate,
    ['1-URGENT', '2-HIGH', '5-LOW'][1 + number % 3] as o_orderpriority, toInt32(0) as o_shippriority,
    if(number % 9 = 0, 'special requests', 'none') as o_comment from numbers(700)`,
  customer: `select toInt32(1 + number) as c_custkey, concat('Customer#', toString(number)) as c_name, 'addr' as c_address,
    toInt32(number % 25) as c_nationkey, concat(toString(10 + number % 25), '-555') as c_phone, toDecimal64(number * 7 - 100, 2) as c_acctbal,
    ['BUILDING', 'AUTOMOBILE'][1 + number % 2] as c_mktsegment, 'c' as c_comment from numbers(100)`,
  part: `select toInt32(1 + number) as p_partkey, concat(['green', 'forest', 'red'][1 + number % 3], ' part') as p_name, 'Manufacturer#1' as p_mfgr,
    concat('Brand#', toString(10 + number % 30)) as p_brand, ['PROMO BRUSHED BRASS', 'MEDIUM POLISHED TIN', 'ECONOMY ANODIZED STEEL'][1 + number % 3] as p_type,
    toInt32(1 + number % 50) as p_size, ['SM CASE', 'MED BOX', 'LG PACK'][1 + number % 3] as p_container, toDecimal64(900, 2) as p_retailprice from numbers(40)`,
  partsupp: `select toInt32(1 + number % 40) as ps_partkey, toInt32(1 + number % 10) as ps_suppkey, toInt32(number) as ps_availqty,
    toDecimal64(10 + number, 2) as ps_supplycost from numbers(160)`,
  supplier: `select toInt32(1 + number) as s_suppkey, concat('Supplier#', toString(number)) as s_name, 'addr' as s_address,
    toInt32(number % 25) as s_nationkey, '15' as s_phone, toDecimal64(number * 11, 2) as s_acctbal, 'Customer Complaints' as s_comment from numbers(10)`,
  nation: `select toInt32(number) as n_nationkey, ['FRANCE', 'GERMANY', 'BRAZIL', 'CANADA', 'SAUDI ARABIA'][1 + number % 5] as n_name,
    toInt32(number % 5) as n_regionkey from numbers(25)`,
  region: `select toInt32(number) as r_regionkey, ['AFRICA', 'AMERICA', 'ASIA', 'EUROPE', 'MIDDLE EAST'][1 + number] as r_name from numbers(5)`,
}

/** Puts the tables into the version of a project, seen through views as ingest makes them. */
export async function fillForeignTables(engine: FactEngine, project: Project): Promise<void> {
  const { user, facts } = versionDatabases(project.id, 1)
  for (const [name, rows] of Object.entries(TABLES)) {
    await engine.command(`create table ${facts}.event_${name} engine = MergeTree order by tuple() as ${rows}`)
    await engine.command(`create view ${user}.${name} as select * from ${facts}.event_${name}`)
  }
}
