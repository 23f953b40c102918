import type { ChartKind } from '../parts/time-chart.tsx'

/** A function of a query with its arguments as typed: `1d`, `5`. */
export type FunctionState = readonly [name: string, ...typed: string[]]

/** A query as it stands in the address of the page. */
export interface QueryState {
  readonly metric: string
  readonly labels?: Readonly<Record<string, string>>
  readonly op?: string
  readonly by?: readonly string[]
  readonly functions?: readonly FunctionState[]
  readonly alias?: string
  /** Computed for formulas, not shown. */
  readonly isHidden?: boolean
}

/** A formula over the queries, which are called a, b, c … */
export interface FormulaState {
  readonly expression: string
  readonly alias?: string
}

/** The whole state of the explorer. It lives in the address of the page, so that a view can be shared. */
export interface ExplorerState {
  readonly queries?: readonly QueryState[] | undefined
  readonly formulas?: readonly FormulaState[] | undefined
  /** `now-7d`, or milliseconds since 1970. */
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly step?: number | undefined
  readonly timezone?: string | undefined
  readonly view?: ChartKind | 'table' | undefined
}

const VIEWS: ReadonlySet<string> = new Set(['line', 'area', 'stacked', 'bar', 'table'])

/** Reads the state from an address; what is not understood is undefined. */
export function readExplorerState(search: Readonly<Record<string, unknown>>): ExplorerState {
  const { queries, formulas, step, view, from, to, timezone } = search
  // A field that is left out would stay as it came: what is not understood becomes undefined.
  return {
    queries: Array.isArray(queries) ? queries.filter(isQuery) : undefined,
    formulas: Array.isArray(formulas) ? formulas.filter(isFormula) : undefined,
    from: text(from),
    to: text(to),
    step: typeof step === 'number' && step > 0 ? Math.floor(step) : undefined,
    timezone: isZone(timezone) ? timezone : undefined,
    view: typeof view === 'string' && VIEWS.has(view) ? (view as ChartKind) : undefined,
  }
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}

function isZone(value: unknown): value is string {
  try {
    return typeof value === 'string' && Intl.DateTimeFormat('en', { timeZone: value }) !== undefined
  } catch {
    return false
  }
}

function isQuery(value: unknown): value is QueryState {
  const { metric, by, functions } = (value ?? {}) as Partial<QueryState>
  return (
    typeof metric === 'string' &&
    (by === undefined || Array.isArray(by)) &&
    (functions === undefined || (Array.isArray(functions) && functions.every(isFunction)))
  )
}

function isFunction(value: unknown): value is FunctionState {
  return Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string')
}

function isFormula(value: unknown): value is FormulaState {
  return typeof (value as Partial<FormulaState> | null)?.expression === 'string'
}

/** The name by which formulas call the query at a place. */
export function queryId(place: number): string {
  return String.fromCodePoint(97 + (place % 26)) + (place >= 26 ? String(Math.floor(place / 26)) : '')
}
