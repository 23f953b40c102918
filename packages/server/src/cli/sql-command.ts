import { createClient, type SqlAnswer } from '@millrace/sdk'
import { Command } from 'commander'
import { connectionOf, withConnection, type ConnectionOptions } from './connection-options.ts'
import { parseCount } from './parse-count.ts'
import { printTable, printLine, printWarnings } from './print.ts'

interface SqlOptions extends ConnectionOptions {
  readonly size: number
  readonly all?: true
  readonly version?: number
}

/** `millrace sql`. */
export function sqlCommand(): Command {
  return withConnection(
    new Command('sql')
      .argument('<project>', 'owner/name')
      .argument('<statement>', 'one SELECT, SHOW TABLES or DESCRIBE')
      .description("run SQL over a project's data; with --json one row a line")
      .option('--size <rows>', 'rows a page', parseCount, 100)
      .option('--all', 'print all pages instead of the first')
      .option('--version <number>', 'processor version instead of the active one', parseCount)
      .addHelpText(
        'after',
        "\nExample:\n  millrace sql demo/erc20 'select count() from Transfer'\n  millrace sql demo/erc20 'select * from Transfer' --all --json > transfers.ndjson",
      ),
  ).action(async (project: string, sql: string, options: SqlOptions) => {
    const client = createClient(connectionOf(options))
    const { size, version } = options
    let page = await client.executeSql(project, { sql, size, ...(version === undefined ? {} : { version }) })
    printPage(page, options)
    while (options.all && page.result.cursor) {
      page = await client.executeSql(project, { cursor: page.result.cursor })
      printPage(page, options)
    }
    if (page.result.cursor) process.stderr.write('There are more rows; --all prints them.\n')
  })
}

function printPage({ result, warnings }: SqlAnswer, options: SqlOptions): void {
  printWarnings(warnings)
  if (options.json) for (const row of result.rows) printLine(JSON.stringify(row))
  else printTable(result.columns, result.rows)
}
