import { Query, type Connection, type QueryConfig, type QueryResult } from 'pg'

/**
 * A statement with the `begin` of its transaction before it, sent as one. Up to where both end the server leaves out what follows a failure, so
 * a statement whose transaction could not be begun never runs by itself. The driver must not have to prepare it: it takes the first thing
 * that was parsed for what is prepared.
 */
export function beginningQuery(
  config: QueryConfig,
  done: (error: Error | undefined, result: QueryResult | undefined) => void,
): Query {
  const query = new Query(config, (error, results: unknown) => done(error, (results as QueryResult[])?.[1]))
  const submit = query.submit.bind(query)
  query.submit = (connection: Connection) => {
    connection.stream.cork()
    connection.parse({ name: '', text: 'begin', types: [] }, true)
    connection.bind({}, true)
    connection.execute(null, true)
    submit(connection)
    connection.stream.uncork()
  }
  return query
}
