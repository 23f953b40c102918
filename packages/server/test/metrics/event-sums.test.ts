import { afterAll, beforeAll, expect, it } from 'vitest'
import { sumAsDouble } from '../../src/clickhouse/fixed-point.ts'
import { createExactSum } from '../../src/metrics/exact-sum.ts'
import { startTestEngine, type TestEngine } from '../support/fact-engine.ts'

const ROWS = 3000

/** Numbers in no order, the same in every run. */
let state = 777
const next = () => {
  state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
  return state / 2 ** 32
}

/** What events have, by kind; null is nothing. */
const VALUES: Readonly<Record<string, () => number | null>> = {
  thirds: () => Math.floor(next() * 1000) / 3,
  signed: () => 10 ** (next() * 40 - 15) * (next() < 0.5 ? -1 : 1),
  some: () => (next() < 0.5 ? null : next()),
  none: () => null,
  tiny: () => 1e-30 * next(),
  huge: () => (next() < 0.3 ? 2 ** 256 * next() : next()),
}
const KINDS = Object.fromEntries(
  Object.entries(VALUES).map(([kind, value]) => [kind, Array.from({ length: ROWS }, value)]),
)

let test: TestEngine

beforeAll(async () => {
  test = await startTestEngine()
  await test.engine.command('create database sums')
  const rows = Object.entries(KINDS).flatMap(([kind, values]) => values.map((x) => ({ kind, x })))
  const orders = { forward: rows, backward: rows.toReversed() }
  for (const [table, ordered] of Object.entries(orders)) {
    await test.engine.command(
      `create table sums.${table} (kind String, x Nullable(Float64)) engine = MergeTree order by tuple()`,
    )
    for (let part = 0; part < 5; part += 1) {
      const own = ordered.filter((_, index) => index % 5 === part)
      const values = own.map(({ kind, x }) => `('${kind}', ${x ?? 'null'})`)
      await test.engine.command(`insert into sums.${table} values ${values.join(', ')}`)
    }
  }
})

afterAll(() => test.stop())

const sumsOf = (table: string, threads: number) =>
  test.engine.rows<{ kind: string; sum: number | null }>(
    `select kind, ${sumAsDouble('x')} as sum from sums.${table} group by kind order by kind`,
    { settings: { max_threads: threads } },
  )

it('sums of properties of events are the same to the last bit in every order, from every number of parts and threads (CA-4)', async () => {
  const expected = await sumsOf('forward', 1)
  expect(await sumsOf('backward', 1)).toEqual(expected)
  expect(await sumsOf('backward', 4)).toEqual(expected)
  await test.engine.command('optimize table sums.forward final')
  expect(await sumsOf('forward', 4)).toEqual(expected)
})

it('they are as near to the exact sum as doubles are to each other, and null where there is nothing (CA-4)', async () => {
  const found = new Map((await sumsOf('forward', 2)).map(({ kind, sum }) => [kind, sum]))
  expect(found.get('none')).toBeNull()
  for (const kind of ['thirds', 'signed', 'some', 'tiny', 'huge']) {
    const sum = createExactSum()
    for (const value of KINDS[kind] ?? []) if (value !== null) sum.add(value)
    const exact = sum.value()
    const off = Math.abs((found.get(kind) ?? Number.NaN) - exact) / Math.abs(exact)
    expect([kind, off]).toEqual([kind, kind === 'tiny' || kind === 'huge' ? expect.closeTo(0, 12) : 0])
  }
})
