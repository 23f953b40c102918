import type { ErrorCode } from '@millrace/contract'
import { cancellation, ServiceError } from '../platform/errors.ts'
import { shortenExpected } from './expected-words.ts'

const NOT_ENOUGH_SPACE = 243

/**
 * What the engine's error codes mean to a caller (ER-4). The user's mistakes are not listed: everything unknown
 * that the engine itself has worded is one.
 */
const CODES: Readonly<Record<number, ErrorCode>> = {
  159: 'deadline_exceeded', // TIMEOUT_EXCEEDED
  160: 'deadline_exceeded', // TOO_SLOW
  209: 'unavailable', // SOCKET_TIMEOUT
  210: 'unavailable', // NETWORK_ERROR
  158: 'resource_exhausted', // TOO_MANY_ROWS
  191: 'resource_exhausted', // SET_SIZE_LIMIT_EXCEEDED
  201: 'resource_exhausted', // QUOTA_EXCEEDED
  202: 'resource_exhausted', // TOO_MANY_SIMULTANEOUS_QUERIES
  241: 'resource_exhausted', // MEMORY_LIMIT_EXCEEDED
  290: 'resource_exhausted', // LIMIT_EXCEEDED
  307: 'resource_exhausted', // TOO_MANY_BYTES
  396: 'resource_exhausted', // TOO_MANY_ROWS_OR_BYTES
  252: 'unavailable', // TOO_MANY_PARTS
  394: 'cancelled', // QUERY_WAS_CANCELLED
  734: 'cancelled', // QUERY_WAS_CANCELLED_BY_CLIENT
  49: 'internal', // LOGICAL_ERROR
  516: 'internal', // AUTHENTICATION_FAILED
  1001: 'internal', // STD_EXCEPTION
  1002: 'internal', // UNKNOWN_EXCEPTION
  [NOT_ENOUGH_SPACE]: 'unavailable',
}

/** Where a statement was not understood: a place in its text counted from 1, and line and column if the engine said so. */
export interface StatementPosition {
  readonly position: number
  readonly line?: number
  readonly column?: number
}

/** An error text of the engine, taken apart. */
export interface EngineException {
  readonly code: number
  /** Name of the code, e.g. `SYNTAX_ERROR`. */
  readonly name: string
  readonly message: string
}

/** Takes `Code: 62. DB::Exception: … (SYNTAX_ERROR) (version …)` apart; null when the text is no such error. */
export function parseException(text: string): EngineException | null {
  const match = /^\s*(?:Code|Error): (\d+)\.?\s*(?:DB::Exception: )?(.*)$/s.exec(text)
  if (!match) return null
  const body = (match[2] ?? '').replace(/\s*\(version [^)]*(\([^)]*\))?[^)]*\)\s*$/s, '').trimEnd()
  const name = /\(([A-Z][A-Z0-9_]{2,})\)\s*$/.exec(body)
  return {
    code: Number(match[1]),
    name: name?.[1] ?? '',
    message: name ? body.slice(0, name.index).trimEnd() : body,
  }
}

/** The engine's message freed of what is no caller's business: databases, plan names, servers, versions. */
export function cleanMessage(message: string): string {
  return (
    shortenExpected(message)
      .replaceAll(/Database `?millrace_p\d+_v(\d+)(?:_facts)?`? does not exist/g, 'version $1 has no data')
      .replaceAll(/`?millrace_p\d+_v\d+(?:_facts)?`?\./g, '')
      .replaceAll(/`?millrace_p\d+_v\d+(?:_facts)?`?/g, 'the project')
      .replaceAll(/\b__table\d+\./g, '')
      .replaceAll(/\/\* millrace[:-][\w:-]+ \*\//g, '')
      .replaceAll(/(?:: )?While executing [A-Za-z]+(?:\([^)]*\))?(?:\.|$)/gi, '')
      .replaceAll(/:? while executing (?:function \w+ on arguments .*|'FUNCTION .*')(?=\.|$)/gis, '')
      .replaceAll(/\. Maybe you meant:? \[?'?(?:system|information_schema)\.[^?\]]*\]?\??/gi, '')
      // Settings are none of the caller's.
      .replace(
        /^Limit for rows (?:\(controlled by '\w+' setting\)|or bytes to read) exceeded, max rows: (.+?), current rows: (.+?)\.?$/,
        'the statement would read $2 rows, and may read $1: narrow it by conditions on columns of its tables, timestamp above all',
      )
      .replaceAll(/ \(controlled by '\w+' setting\)/g, '')
      .replaceAll(/, because setting \(\w+\) is empty/g, '')
      .replaceAll(/[.,]? Consider (?:rising|raising) \w+ (?:setting|parameter)(?=\.|$)/g, '')
      .replaceAll(/\.? Untracked memory across all threads: -?[\d.]+ \w+/g, '')
      // The engine has two forms of a hint; one reads well, and the question is one whatever follows it.
      .replaceAll(/Maybe you meant ([^?\s[]+)\?/g, "Maybe you meant: ['$1']")
      .replace(/\?\.$/, '?')
      .trim()
  )
}

/** The place that a syntax error names. */
export function positionOf(message: string): StatementPosition | null {
  const match = /failed at position (\d+)(?:[^:]*?\(line (\d+), col (\d+)\))?/.exec(message)
  if (!match) return null
  const position = Number(match[1])
  return match[2] === undefined
    ? { position }
    : { position, line: Number(match[2]), column: Number(match[3]) }
}

/** The engine's exception as an error of the catalogue. */
export function translateException(exception: EngineException, cause?: unknown): ServiceError {
  const code = CODES[exception.code] ?? 'invalid_argument'
  // A defect of the engine speaks of nothing but its insides (ER-2).
  if (code === 'internal') {
    return new ServiceError(code, 'the fact engine failed; the log of the service has the cause', {
      cause: cause ?? exception,
    })
  }
  const position = positionOf(exception.message)
  const reason = exception.name === '' ? {} : { engineCode: exception.name }
  const message = cleanMessage(exception.message)
  return new ServiceError(
    code,
    exception.code === NOT_ENOUGH_SPACE ? `the disk is full: ${message}` : message,
    {
      cause: cause ?? exception,
      details: exception.name === '' && !position ? [] : [{ ...reason, ...position }],
      ...(code === 'unavailable' ? { retryAfterSeconds: 1 } : {}),
    },
  )
}

const BROKEN_CONNECTION = new Set(['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ECONNABORTED', 'UND_ERR_SOCKET'])

/** Did the connection break, so that nobody knows what became of the statement? */
export function isBrokenConnection(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = (error as NodeJS.ErrnoException).code
  return (
    (code !== undefined && BROKEN_CONNECTION.has(code)) ||
    /socket hang up|aborted|premature close/i.test(error.message)
  )
}

/** Anything thrown on the way to the engine as an error of the catalogue. */
export function translateError(error: unknown, signal?: AbortSignal): ServiceError {
  if (error instanceof ServiceError) return error
  if (signal?.aborted) return cancellation(signal, error)
  const known = error as { code?: unknown; type?: unknown; message?: unknown } | null
  if (typeof known?.type === 'string' && /^\d+$/.test(String(known.code))) {
    const exception = { code: Number(known.code), name: known.type, message: String(known.message).trimEnd() }
    return translateException(exception, error)
  }
  const parsed = error instanceof Error ? parseException(error.message) : null
  if (parsed) return translateException(parsed, error)
  if (error instanceof Error && /timeout/i.test(error.message)) {
    return new ServiceError('deadline_exceeded', 'the fact engine did not answer in time', { cause: error })
  }
  return new ServiceError('unavailable', 'the fact engine cannot be reached', {
    cause: error,
    retryAfterSeconds: 1,
  })
}
