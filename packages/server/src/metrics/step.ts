import { invalidArgument } from '../platform/errors.ts'

const MINUTE = 60
const HOUR = 3600
const DAY = 86_400

/** Steps in seconds that stand for a unit of the calendar rather than for themselves (TR-6). */
export const WEEK_SECONDS = 7 * DAY
export const MONTH_SECONDS = 30 * DAY
export const YEAR_SECONDS = 365 * DAY

/** The steps, in seconds, that a step is raised to (TR-5). */
export const STEP_LADDER: readonly number[] = [
  [1, 2, 5, 10, 15, 20, 30],
  [1, 2, 5, 10, 15, 20, 30].map((minutes) => minutes * MINUTE),
  [1, 2, 3, 4, 6, 8, 12].map((hours) => hours * HOUR),
  [DAY, 2 * DAY, WEEK_SECONDS, MONTH_SECONDS, YEAR_SECONDS],
].flat()

/** Longer than any range that can be asked for. */
const MAX_STEP_SECONDS = 400 * YEAR_SECONDS

/** A range has at most this many grid points (TR-5). */
export const MAX_POINTS = 1000

/** The step as asked for, in seconds; null where TR-5 chooses. */
export function parseStep(step: number | undefined): number | null {
  if (step === undefined) return null
  if (!Number.isSafeInteger(step) || step < 1 || step > MAX_STEP_SECONDS) {
    throw invalidArgument(
      `timeRange.step: ${step} must be an integer of seconds from 1 to ${MAX_STEP_SECONDS} (400 years)`,
    )
  }
  return step
}

/** A step and the grid it gives, at most `MAX_POINTS` of it: the wish if it does, else the next one of the ladder that does. */
export function chooseStep<Points>(
  wish: number | null,
  pointsAt: (stepSeconds: number) => Points | null,
): { readonly stepSeconds: number; readonly points: Points; readonly isAdjusted: boolean } {
  if (wish !== null) {
    const points = pointsAt(wish)
    if (points !== null) return { stepSeconds: wish, points, isAdjusted: false }
  }
  for (const stepSeconds of STEP_LADDER) {
    if (wish !== null && stepSeconds <= wish) continue
    const points = pointsAt(stepSeconds)
    if (points !== null) return { stepSeconds, points, isAdjusted: wish !== null }
  }
  throw invalidArgument('timeRange: is too long for any step')
}
