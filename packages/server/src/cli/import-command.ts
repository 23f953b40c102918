import { appendFileSync } from 'node:fs'
import { basename } from 'node:path'
import { Command, Option } from 'commander'
import { checkReadable } from './check-readable.ts'
import { collect, connectionOf, withConnection, type ConnectionOptions } from './connection-options.ts'
import { describeFailure } from './describe-failure.ts'
import { createProgressBar } from './import/progress-bar.ts'
import { COLUMN_TYPES, RECORD_KINDS, type Mapping } from './import/row-to-record.ts'
import { FORMATS, runImport, type BadRow, type Format } from './import/run-import.ts'
import { parseCount } from './parse-count.ts'
import { printJson, printLine, printWarnings } from './print.ts'
import { UsageError } from './usage-error.ts'

interface ImportCommandOptions extends ConnectionOptions {
  readonly as?: string
  readonly format?: Format
  readonly column?: readonly string[]
  readonly type?: readonly string[]
  readonly chain?: string
  readonly batchRows: number
  readonly badRows?: string
  readonly version?: number
}

/** `millrace import`. */
export function importCommand(): Command {
  return withConnection(
    new Command('import')
      .argument('<project>', 'owner/name')
      .argument('<files...>', 'NDJSON, CSV, TSV or Parquet; the first three also compressed, .gz')
      .description('import files; repeat the command to go on where it was interrupted')
      .option('--as <kind:name>', `what rows become, e.g. event:Transfer; kinds: ${RECORD_KINDS.join(', ')}`)
      .addOption(new Option('--format <format>', 'where the name of the file does not tell').choices(FORMATS))
      .option('--column <field=column>', 'the column of a field, e.g. time=evt_time; repeatable', collect)
      .option('--type <column=type>', `of a column of text: ${COLUMN_TYPES.join(', ')}; repeatable`, collect)
      .option('--chain <id>', 'of rows without a column chain')
      .option('--batch-rows <number>', 'rows a batch', parseCount, 10_000)
      .option(
        '--bad-rows <file>',
        'leave out rows that cannot be taken, and write them here as NDJSON, each with its line and the reason',
      )
      .option('--version <number>', 'processor version; default the active one', parseCount)
      .addHelpText('after', EXAMPLES),
  ).action(async (project: string, files: readonly string[], options: ImportCommandOptions) => {
    const mapping = mappingOf(options)
    if (options.batchRows < 1 || options.batchRows > 100_000) {
      throw new UsageError('--batch-rows must be from 1 to 100000')
    }
    // All of them before the first is imported.
    for (const path of files) await checkReadable('the file', path)
    for (const path of files) {
      const bar = createProgressBar(basename(path))
      const warnings = new Set<string>()
      const outcome = await runImport({
        connection: connectionOf(options),
        project,
        path,
        format: options.format,
        mapping,
        batchRows: options.batchRows,
        version: options.version,
        onProgress: (fraction, rows) => bar.draw(fraction, rows),
        onWarning: (warning) => warnings.add(warning),
        onWaiting: (reason, waitMs) => bar.wait(describeFailure(reason).split('\n', 1)[0] ?? '', waitMs),
        onBadRow: options.badRows === undefined ? undefined : badRowWriter(options.badRows, path),
      }).finally(() => bar.clear())
      printWarnings(warnings)
      if (options.json) printJson({ path, ...outcome })
      else {
        const { rows, resumedAt, repeatedRows, badRows: left } = outcome
        const resumed = resumedAt > 0 ? `, ${resumedAt} of them before` : ''
        const repeated = repeatedRows > 0 ? `, ${repeatedRows} of them known already` : ''
        printLine(`${path}: ${rows - left} rows imported${resumed}${repeated}.`)
        if (left > 0) printLine(`${left} rows were left out; ${options.badRows} says which and why.`)
      }
    }
  })
}

/** Appends: an import that goes on where it was adds to what it wrote. */
function badRowWriter(target: string, path: string): (row: BadRow) => void {
  return (row) => {
    appendFileSync(target, `${JSON.stringify({ path, ...row })}\n`)
  }
}

function mappingOf({ as, column, type, chain }: ImportCommandOptions): Mapping | null {
  if (as === undefined) {
    if (column ?? type ?? chain) throw new UsageError('--column, --type and --chain need --as')
    return null
  }
  const [kindName, name] = splitAt(as, ':')
  const kind = RECORD_KINDS.find((each) => each === kindName)
  if (!kind || name === '') {
    throw new UsageError(`--as is written kind:name with one of ${RECORD_KINDS.join(', ')}, not "${as}"`)
  }
  const typeOfColumn = Object.fromEntries(
    (type ?? []).map((text) => {
      const [columnName, typeName] = splitAt(text, '=')
      const found = COLUMN_TYPES.find((each) => each === typeName)
      if (!found) throw new UsageError(`--type is written column=type with one of ${COLUMN_TYPES.join(', ')}`)
      return [columnName, found] as const
    }),
  )
  const columnOfField = Object.fromEntries((column ?? []).map((text) => splitAt(text, '=')))
  return { kind, name, columnOfField, typeOfColumn, chain }
}

function splitAt(text: string, separator: string): readonly [string, string] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}

const EXAMPLES = `
Without --as every line of an NDJSON file is a record, as the batch route takes it.
Columns called like a field of a record become it (chain, block_number, transaction_hash, log_index, address,
timestamp, …; value of a metric, id of an entity), the others attributes, or labels of a metric.

Examples:
  millrace import demo/erc20 records.ndjson
  millrace import demo/erc20 transfers.csv --as event:Transfer --chain 1 --type value=int --column time=evt_time
  millrace import demo/erc20 prices.parquet --as gauge:price`
