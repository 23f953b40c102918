import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { deliver } from '../../src/delivery/deliver.ts'
import type { Outcome } from '../../src/delivery/outcome.ts'
import { controlDatabases, type TestDatabase } from '../support/databases.ts'
import { ACKNOWLEDGED, createBench, exported, refused, type Bench, type Received } from './bench.ts'

/** What can happen to a channel, besides time. */
type Step =
  | { readonly kind: 'export'; readonly block: number; readonly position: number; readonly revision: number }
  | { readonly kind: 'rollback'; readonly aboveBlock: number }
  | { readonly kind: 'advance'; readonly seconds: number }
  | { readonly kind: 'attempt'; readonly answer: Answer }

/** How one attempt ends; the `crash`es happen after the receiver saw the request and before anything was settled. */
type Answer = 'acknowledge' | 'error' | 'lost answer' | 'refuse odd' | 'crash' | 'acknowledge and crash'

const BLOCKS = 4
const block = fc.integer({ min: 1, max: BLOCKS })
const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('export' as const),
      block,
      position: fc.integer({ min: 0, max: 2 }),
      revision: fc.integer({ min: 0, max: 5 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('rollback' as const),
      aboveBlock: fc.integer({ min: 0, max: BLOCKS }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('advance' as const), seconds: fc.constantFrom(1, 16, 120) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('attempt' as const),
      answer: fc.constantFrom<Answer>(
        'acknowledge',
        'error',
        'lost answer',
        'refuse odd',
        'crash',
        'acknowledge and crash',
      ),
    }),
  },
)

/** The receiver of the model: for each place in a block what it holds, told apart by the payload alone. */
type Place = string

interface Payload {
  readonly place: Place
  readonly order: number
  readonly revision: number
}

class Crash extends Error {}

describe.each(controlDatabases.filter(({ name }) => name === 'sqlite'))('a lane on $name', ({ open }) => {
  const databases: TestDatabase[] = []
  afterEach(async () => {
    for (const database of databases.splice(0)) await database.close()
  })

  it('agrees with the model: nothing lost, nothing stale, whatever crashes (DL-6, DL-8, EV-1)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 5, maxLength: 40 }), async (script) => {
        const database = await open()
        databases.push(database)
        await check(createBench(database), script)
        await databases.pop()?.close()
      }),
      { numRuns: 60 },
    )
  })

  async function check(bench: Bench, script: readonly Step[]): Promise<void> {
    await bench.configure('alerts', {
      maxBatchMessages: 3,
      deadLetter: { ageMs: 365 * 24 * 3_600_000, attempts: 1000 },
    })
    /** Newest revision that ingest accepted for each place, as long as it was not withdrawn before it could be sent. */
    const wanted = new Map<Place, number>()
    const held = new Map<Place, Payload>()
    const ids = new Map<Place, number>()
    let order = 0

    function receive(messages: readonly Received[]): void {
      for (const message of messages) {
        const payload = message.data as Payload
        const known = held.get(payload.place)
        expect(ids.get(payload.place) ?? message.event_id, 'an id moved (EV-1)').toBe(message.event_id)
        ids.set(payload.place, message.event_id)
        expect(payload.order, 'an older revision after a newer one (DL-8)').toBeGreaterThanOrEqual(
          known?.order ?? 0,
        )
        held.set(payload.place, payload)
      }
    }

    async function attempt(answer: Answer): Promise<void> {
      bench.endpoint.answer = (messages): Outcome => {
        const isOdd = messages.some((message) => (message.data as Payload).revision % 2 === 1)
        if (answer === 'error') return refused(500)
        if (answer === 'refuse odd' && isOdd) return refused(422)
        if (answer === 'crash') throw new Crash()
        receive(messages)
        if (answer === 'acknowledge and crash') throw new Crash()
        return answer === 'lost answer' ? { kind: 'timed_out' } : ACKNOWLEDGED
      }
      for (const lane of await bench.claim()) {
        try {
          await deliver(bench.dependencies, lane, bench.clock.monotonic(), new AbortController().signal)
        } catch (error) {
          if (!(error instanceof Crash)) throw error
        }
      }
    }

    for (const step of script) {
      switch (step.kind) {
        case 'export': {
          const place = `${step.block}/${step.position}`
          // Equal revisions have equal bytes, so `order` is that of the first time this revision became the newest.
          const isRepeated = wanted.get(place) === step.revision
          if (!isRepeated) order += 1
          const payload: Payload = { place, order, revision: step.revision }
          if (isRepeated) break
          wanted.set(place, step.revision)
          await bench.enqueue(exported(payload, { blockNumber: step.block, position: step.position }))
          break
        }
        case 'rollback': {
          const pending = await bench.db.selectFrom('webhook_message').select('body').execute()
          await bench.withdraw({ aboveBlock: step.aboveBlock })
          const left = new Set(
            (await bench.db.selectFrom('webhook_message').select('body').execute()).map((row) =>
              placeOf(row.body),
            ),
          )
          for (const { body } of pending) {
            if (!left.has(placeOf(body))) wanted.delete(placeOf(body))
          }
          break
        }
        case 'advance':
          bench.clock.advance(step.seconds * 1000)
          break
        case 'attempt':
          await attempt(step.answer)
      }
    }
    for (let n = 0; n < 50 && (await bench.pending()).length > 0; n += 1) {
      bench.clock.advance(3_600_000)
      await attempt('acknowledge')
    }
    expect(await bench.pending()).toEqual([])
    for (const [place, revision] of wanted) {
      expect(held.get(place)?.revision, `place ${place} (DL-6)`).toBe(revision)
    }
  }
})

function placeOf(body: Uint8Array): Place {
  return (JSON.parse(Buffer.from(body).toString()) as { data: Payload }).data.place
}
