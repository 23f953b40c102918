import { format, resolveConfig } from 'prettier'
import * as contract from '../packages/contract/src/index.ts'

/** What the SDK speaks of the wire, by file; each type is named as in the contract. */
const FILES = {
  'packages/sdk/src/client/wire.ts': [
    'CachePolicyRequest',
    'ComputeStats',
    'MetricQuery',
    'MetricFormula',
    'QueryRangeRequest',
    'QueryRangeAnswer',
    'SqlQuery',
    'SqlExecuteAnswer',
    'DeadLetterAnswer',
  ],
  'packages/sdk/src/processor/wire.ts': [
    'CounterRecord',
    'MetricRecord',
    'GaugeRecord',
    'EventRecord',
    'UpsertRecord',
    'DeleteRecord',
    'ExportRecord',
    'IngestRecord',
    'IngestAnswer',
    'RollbackAnswer',
  ],
} as const satisfies Readonly<Record<string, readonly (keyof typeof contract)[]>>

/** Requests, in which null is as good as nothing (WI-2). */
const REQUESTS: ReadonlySet<string> = new Set([
  'CachePolicyRequest',
  'MetricQuery',
  'MetricFormula',
  'QueryRangeRequest',
  'SqlQuery',
])

const INTRODUCTION = `/**
 * The wire as far as the SDK speaks it, so that the package needs no other. Written by \`npm run reference\` from
 * \`packages/contract\`; a test keeps them equal.
 */
`

/** What is known while a type is printed. */
interface Printing {
  readonly nameOf: ReadonlyMap<string, string>
  readonly isRequest: boolean
}

interface Schema {
  readonly type?: string
  readonly description?: string
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly patternProperties?: Readonly<Record<string, Schema>>
}

/** The types of the wire as modules of TypeScript, by their path from the root of the repository. */
export async function renderWireTypes(): Promise<ReadonlyMap<string, string>> {
  const modules = Object.entries(FILES).map(
    async ([path, names]) => [path, await renderModule(names)] as const,
  )
  return new Map(await Promise.all(modules))
}

async function renderModule(names: readonly string[]): Promise<string> {
  const all = new Map<string, unknown>(Object.entries(contract))
  const schemas = names.map((name) => [name, all.get(name) as Schema] as const)
  const nameOf = new Map(schemas.map(([name, schema]) => [shapeOf(schema), name]))
  const declarations = schemas.map(([name, schema]) => {
    const type = printType(schema, { nameOf, isRequest: REQUESTS.has(name) }, true)
    const head = printComment(schema.description)
    return type.startsWith('{')
      ? `${head}export interface ${name} ${type}`
      : `${head}export type ${name} = ${type}`
  })
  const options = await resolveConfig(import.meta.filename)
  return format(`${INTRODUCTION}\n${declarations.join('\n\n')}\n`, { ...options, parser: 'typescript' })
}

function shapeOf({ description: _, ...schema }: Schema): string {
  return JSON.stringify(schema)
}

function printType(schema: Schema, printing: Printing, isRoot = false): string {
  const name = isRoot ? undefined : printing.nameOf.get(shapeOf(schema))
  if (name !== undefined) return name
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.anyOf) return schema.anyOf.map((each) => printType(each, printing)).join(' | ')
  switch (schema.type) {
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
      return schema.type
    case 'integer':
      return 'number'
    case 'array':
      return `readonly (${printType(schema.items ?? {}, printing)})[]`
    case 'object':
      return printObject(schema, printing)
    default:
      return 'unknown'
  }
}

function printObject(schema: Schema, printing: Printing): string {
  const [value] = Object.values(schema.patternProperties ?? {})
  if (value) return `Readonly<Record<string, ${printType(value, printing)}>>`
  const required = new Set(schema.required)
  const members = Object.entries(schema.properties ?? {}).map(([key, property]) => {
    const isRequired = required.has(key)
    const mayBeNull = !isRequired && printing.isRequest
    const type = `${printType(property, printing)}${mayBeNull ? ' | null' : ''}`
    return `${printComment(property.description)}readonly ${key}${isRequired ? '' : '?'}: ${type}`
  })
  return `{\n${members.join('\n')}\n}`
}

function printComment(description: string | undefined): string {
  return description === undefined ? '' : `/** ${description} */\n`
}
