import { createHash } from 'node:crypto'
import { Client, DatabaseError, type QueryConfig } from 'pg'
import { beginningQuery } from './beginning-query.ts'

/** How often a text has to come to be prepared: one that comes once would only fill the memory of the server. */
const PREPARED_FROM = 3
/** Texts that are prepared on each connection, and texts that are counted. */
const PREPARED_MAX = 300
const COUNTED_MAX = 3000

/**
 * What says that prepared statements cannot be used: a pooler hands connections out by the transaction, so that the server does not know
 * the statement or knows it already; or a newer release has changed a table that it reads.
 */
const REFUSALS: ReadonlySet<string> = new Set(['26000', '42P05', '0A000'])

/**
 * Connections for a pool, on which statements that come again and again are prepared once: to plan one takes PostgreSQL longer than to run
 * it. After the first refusal of a prepared statement none of the pool's is prepared any more: nothing was executed, so the statement is sent once more as it
 * is, unless it belongs to a transaction, which PostgreSQL has given up by then. An address with `prepare=false` has nothing prepared.
 *
 * A transaction begins with its first statement, which saves a way to the server; one without any does not begin.
 */
export function createPreparingClient(connectionString: string): typeof Client {
  const nameOf = createNames()
  let isPreparing = new URL(connectionString).searchParams.get('prepare') !== 'false'

  return class PreparingClient extends Client {
    #isBeginDue = false
    /** Names of what is prepared on this connection. */
    readonly #prepared = new Set<string>()

    // oxlint-disable-next-line typescript/no-explicit-any -- the driver has an overload for each way to call it
    override query(query: any, values?: any, callback?: any): any {
      const isText = typeof query === 'string' && callback === undefined
      if (!isText && this.#isBeginDue) throw new Error('a transaction begins with a text and its values')
      if (!isText) return super.query(query, values, callback)
      const isBeginning = this.#isBeginDue
      this.#isBeginDue = query === 'begin'
      if (this.#isBeginDue || (isBeginning && ENDS.has(query))) {
        return Promise.resolve({ command: query.toUpperCase(), rowCount: null, rows: [] })
      }
      return this.#run(query, Array.isArray(values) ? values : [], isBeginning)
    }

    async #run(text: string, values: unknown[], isBeginning: boolean): Promise<unknown> {
      const name = values.length > 0 && isPreparing ? nameOf(text) : null
      const isTogether = isBeginning && values.length > 0 && (name === null || this.#prepared.has(name))
      if (isBeginning && !isTogether) await super.query('begin')
      const send = (config: QueryConfig) => (isTogether ? this.#beginWith(config) : super.query(config))
      if (name === null) return send({ text, values })
      const isAlone = !isBeginning && this.getTransactionStatus() === 'I'
      try {
        const result = await send({ name, text, values })
        this.#prepared.add(name)
        return result
      } catch (error) {
        if (!(error instanceof DatabaseError) || !REFUSALS.has(error.code ?? '')) throw error
        isPreparing = false
        if (!isAlone) throw error
        return super.query(text, values)
      }
    }

    #beginWith(config: QueryConfig): Promise<unknown> {
      return new Promise((resolve, reject) => {
        super.query(
          beginningQuery(config, (error, result) => {
            if (error) reject(error)
            else resolve(result)
          }),
        )
      })
    }
  }
}

/** What ends a transaction that has not begun. */
const ENDS: ReadonlySet<string> = new Set(['commit', 'rollback'])

/** Names of texts under which they are prepared; null for a text that is not, or not yet. Of a text, so that no name ever means another. */
function createNames(): (text: string) => string | null {
  const counts = new Map<string, number>()
  const names = new Map<string, string>()
  return (text) => {
    const known = names.get(text)
    if (known !== undefined) return known
    const count = (counts.get(text) ?? 0) + 1
    if (counts.size >= COUNTED_MAX) counts.clear()
    counts.set(text, count)
    if (count < PREPARED_FROM || names.size >= PREPARED_MAX) return null
    const name = createHash('sha256').update(text).digest('base64url')
    names.set(text, name)
    return name
  }
}
