import { format } from 'prettier'
import { ERRORS } from '../packages/contract/src/index.ts'
import { SETTINGS } from '../packages/server/src/config.ts'

const ERRORS_INTRODUCTION = `# Errors

Every answer outside 2xx has the body \`{"code": <number>, "message": "…", "details": []}\` and the header
\`x-request-id\` (ER-1). The message names the field at fault and what is allowed (ER-2); the cause of a 500 stands only in
the service's log, under the request id. What can be retried unchanged carries \`retry-after\` where the service knows when.

This page is written by \`npm run reference\` from \`packages/contract/src/errors.ts\`; a test keeps them equal.
`

const CONFIGURATION_INTRODUCTION = `# Configuration

The service is configured by environment variables, and by options of \`millrace serve\` and \`millrace start\`, which win
(\`npm start -- --help\`). An empty variable is an absent one. A variable that begins with \`MILLRACE_\` and is neither a
setting nor one of the two below is refused, so that a misspelt limit is not silently ignored. Secrets never appear in logs.

The command line also reads \`MILLRACE_URL\` (address of the service) and \`MILLRACE_API_KEY\` (the key to present).

This page is written by \`npm run reference\` from \`packages/server/src/config.ts\`; a test keeps them equal.
`

/** The pages of `docs/` that are written from the code, by their path from the root of the repository. */
export async function renderReferencePages(): Promise<ReadonlyMap<string, string>> {
  const pages: readonly (readonly [string, string, string])[] = [
    ['docs/errors.md', ERRORS_INTRODUCTION, errorTable()],
    ['docs/configuration.md', CONFIGURATION_INTRODUCTION, settingTable()],
  ]
  const rendered = pages.map(
    async ([path, introduction, table]) =>
      [path, await format(`${introduction}\n${table}\n`, { parser: 'markdown', printWidth: 110 })] as const,
  )
  return new Map(await Promise.all(rendered))
}

function errorTable(): string {
  const rows = Object.entries(ERRORS).map(([name, { status, code, isRetryable, title }]) => [
    `\`${name}\``,
    status,
    code,
    isRetryable ? 'yes' : 'no',
    title,
  ])
  return table(['Error', 'Status', 'Code', 'Retry unchanged', 'Meaning'], rows)
}

function settingTable(): string {
  const rows = Object.values(SETTINGS).map((setting) => [
    `\`${setting.variable}\``,
    setting.default === '' ? '' : `\`${setting.default}\``,
    'isSecret' in setting ? `Secret. ${setting.description}` : setting.description,
  ])
  return table(['Variable', 'Default', 'Meaning'], rows)
}

type Row = readonly (string | number)[]

function table(head: Row, rows: readonly Row[]): string {
  return [head, head.map(() => '---'), ...rows].map(tableLine).join('\n')
}

function tableLine(cells: Row): string {
  return `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`
}
