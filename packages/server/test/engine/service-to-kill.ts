import process from 'node:process'
import { pino } from 'pino'
import { createFactEngine } from '../../src/clickhouse/create-fact-engine.ts'
import { startEmbeddedEngine } from '../../src/embedded/start-embedded-engine.ts'

/** A process with an engine on the directory of its argument, which says `writing` once the engine has a statement that would write for minutes. */
const [, , directory = ''] = process.argv
const embedded = await startEmbeddedEngine({ directory, logger: pino({ level: 'silent' }), poolSize: 2 })
const engine = createFactEngine((waitMs) => embedded.address(waitMs))
await engine.command('create table kept (id UInt64) engine = MergeTree order by id')
await engine.command('insert into kept select 7')
await engine.command('create table written (id UInt64) engine = MergeTree order by id')
const writing = engine.command('insert into written select sipHash64(number) from numbers(5000000000)')
// The statement is on its way as soon as parts of it can be seen.
for (;;) {
  const [row] = await engine.rows<{ n: string }>('select count() as n from written')
  if (row?.n !== '0') break
}
process.send?.('writing')
await writing
