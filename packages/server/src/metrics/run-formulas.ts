import type { MetricFormula } from '@millrace/contract'
import { invalidArgument, ServiceError } from '../platform/errors.ts'
import { applyFunctions } from './apply-functions.ts'
import { evaluateFormula } from './evaluate-formula.ts'
import { formulaReferences, parseFormula, type Formula } from './formula-syntax.ts'
import { parseFunctions } from './functions.ts'
import type { GridSeries } from './grid-series.ts'
import type { Pace } from './pace.ts'
import type { Grid } from './time-range.ts'

/** What a query or formula came to: its series, or why there are none (ER-3). */
export type Outcome = readonly GridSeries[] | ServiceError

/** A formula of a request, parsed; a faulty one keeps its error for its own result. */
export interface ParsedFormula {
  readonly wire: MetricFormula
  readonly formula: Formula | ServiceError
  readonly references: ReadonlyMap<string, number>
}

/** Parses the formulas of a request. */
export function parseFormulas(formulas: readonly MetricFormula[]): ParsedFormula[] {
  return formulas.map((wire, index) => {
    const formula = attempt(() => parseFormula(wire.expression ?? ''), `formulas[${index}].expression`)
    const references =
      formula instanceof ServiceError ? new Map<string, number>() : formulaReferences(formula)
    return { wire, formula, references }
  })
}

/** The ids that formulas need which are returned, directly or through other formulas (MQ-6). */
export function neededIds(formulas: readonly ParsedFormula[]): ReadonlySet<string> {
  const needed = new Set<string>()
  for (const { wire, references } of formulas.toReversed()) {
    if (wire.disabled && !(wire.id !== undefined && needed.has(wire.id))) continue
    for (const id of references.keys()) needed.add(id)
  }
  return needed
}

/**
 * Evaluates formulas in order, each over queries and earlier formulas (FO-1). `queries` are the outcomes of queries with
 * their ids; an id that occurs twice cannot be referred to.
 */
export async function runFormulas(
  formulas: readonly ParsedFormula[],
  queries: readonly { readonly id: string; readonly outcome: Outcome }[],
  grid: Grid,
  pace: Pace,
): Promise<Outcome[]> {
  const scope = new Map<string, Outcome>()
  const define = (id: string | undefined, outcome: Outcome): void => {
    if (!id) return
    scope.set(id, scope.has(id) ? invalidArgument(`the id ${JSON.stringify(id)} is used twice`) : outcome)
  }
  for (const { id, outcome } of queries) define(id, outcome)
  const outcomes: Outcome[] = []
  for (const [index, { wire, formula, references }] of formulas.entries()) {
    const outcome =
      formula instanceof ServiceError
        ? formula
        : await attemptSoon(async () => {
            checkReferences(references, scope, formulas.slice(index))
            const functions = parseFunctions(wire.functions ?? [], 'functions')
            const series = await evaluateFormula(
              formula,
              (id) => resolve(scope, id),
              grid.points.length,
              pace,
            )
            return applyFunctions(series, functions, grid, pace)
          }, `formulas[${index}]`)
    define(wire.id, outcome)
    outcomes.push(outcome)
  }
  return outcomes
}

function checkReferences(
  references: ReadonlyMap<string, number>,
  scope: ReadonlyMap<string, Outcome>,
  later: readonly ParsedFormula[],
): void {
  for (const [id, position] of references) {
    if (scope.has(id)) continue
    const isLater = later.some(({ wire }) => wire.id === id)
    throw invalidArgument(
      isLater
        ? `position ${position}: ${JSON.stringify(id)} is this or a later formula; a formula can only use earlier ones, so that there is no cycle`
        : `position ${position}: unknown id ${JSON.stringify(id)}; known are ${[...scope.keys()].join(', ') || 'none'}`,
    )
  }
}

function resolve(scope: ReadonlyMap<string, Outcome>, id: string): readonly GridSeries[] {
  const outcome = scope.get(id) ?? []
  if (outcome instanceof ServiceError) throw new ServiceError(outcome.code, `${id}: ${outcome.message}`)
  return outcome
}

function attempt<Value>(run: () => Value, field: string): Value | ServiceError {
  try {
    return run()
  } catch (error) {
    return asOutcome(error, field)
  }
}

async function attemptSoon<Value>(run: () => Promise<Value>, field: string): Promise<Value | ServiceError> {
  try {
    return await run()
  } catch (error) {
    return asOutcome(error, field)
  }
}

/** A defect, and a caller who went away, end the whole. */
function asOutcome(error: unknown, field: string): ServiceError {
  if (!(error instanceof ServiceError) || error.code === 'cancelled') throw error
  return new ServiceError(error.code, `${field}: ${error.message}`, { cause: error })
}
