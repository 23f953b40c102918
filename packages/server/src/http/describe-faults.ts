import { isRecord } from './schema-node.ts'

/** A place where a value does not satisfy its schema, as the validator tells it. */
export interface Fault {
  readonly keyword: string
  /** JSON pointer into the value. */
  readonly instancePath: string
  /** JSON pointer into the schema, with a `#` before it. */
  readonly schemaPath: string
  readonly params: unknown
  readonly message: string
}

/** What a message needs of the schema at a fault. */
interface Bounds {
  readonly minimum?: number
  readonly maximum?: number
  /** What a pattern stands for, in words. */
  readonly 'x-rule'?: string
}

/**
 * The first fault as a sentence that names the field and what is allowed (ER-2). The members of a union fault one by one at the same place: they are told
 * together.
 */
export function describeFaults(faults: readonly Fault[], schema: unknown, what: string): string {
  const [first] = faults
  if (!first) return `${what} is not valid`
  const path = first.instancePath
    .slice(1)
    .replaceAll(/\/(\d+)(?=\/|$)/g, '[$1]')
    .replaceAll('/', '.')
  const field = path === '' ? what : path
  const here = faults.filter((fault) => fault.instancePath === first.instancePath)
  const params = first.params as {
    requiredProperties?: string[]
    allowedValues?: unknown[]
    limit?: number
  }
  const bounds = schemaAt(schema, first.schemaPath)
  switch (first.keyword) {
    case 'required': {
      const missing = params.requiredProperties?.[0] ?? ''
      return `${path === '' ? missing : `${path}.${missing}`} is required`
    }
    case 'enum':
      return `${field} must be one of ${params.allowedValues?.join(', ')}`
    case 'const':
      return `${field} must be one of ${told(here, 'const', 'allowedValue').join(', ')}`
    case 'type':
      return `${field} must be ${[...new Set(told(here, 'type', 'type').map(withArticle))].join(' or ')}`
    case 'format':
      return `${field} must be RFC 3339 such as "2026-01-31T12:00:00Z"`
    case 'pattern':
      return `${field} must ${bounds['x-rule'] ? `be ${bounds['x-rule']}` : first.message.replace(/^must /, '')}`
    case 'minimum':
    case 'maximum':
      return `${field} must be ${rangeOf(bounds)}`
    case 'minLength':
      return `${field} must ${params.limit === 1 ? 'not be empty' : `have at least ${params.limit} characters`}`
    case 'maxLength':
      return `${field} must have at most ${params.limit} characters`
    case 'minItems':
      return `${field} must ${params.limit === 1 ? 'not be empty' : `have at least ${params.limit} elements`}`
    case 'maxItems':
      return `${field} must have at most ${params.limit} elements`
    default:
      return `${field} ${first.message}`
  }
}

function rangeOf({ minimum, maximum }: Bounds): string {
  if (minimum === undefined) return `at most ${maximum}`
  return maximum === undefined ? `${minimum} or more` : `from ${minimum} to ${maximum}`
}

function schemaAt(schema: unknown, pointer: string): Bounds {
  let at = schema
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    at = Array.isArray(at) ? at[Number(name)] : isRecord(at) ? at[name] : undefined
  }
  return isRecord(at) ? at : {}
}

function withArticle(type: unknown): string {
  return `${/^[aeio]/.test(String(type)) ? 'an' : 'a'} ${String(type)}`
}

function told(faults: readonly Fault[], keyword: string, parameter: string): readonly unknown[] {
  return faults
    .filter((fault) => fault.keyword === keyword)
    .map((fault) => (fault.params as Readonly<Record<string, unknown>>)[parameter])
}
