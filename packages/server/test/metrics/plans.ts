import type { PlanOptions } from './range-queries.ts'

/** The ways from samples to an answer that a source can be held to; each must give the same. */
export const PLAN_LIMITS = {
  'hours and samples': { usesHours: true },
  'samples alone': { usesHours: false },
  'buckets in memory': { remembered: {} },
  'buckets of the asked series in memory': { remembered: { neighboursMax: 1, neighbourRowsMax: -1 } },
  'half days in memory': { remembered: { hoursMax: 0 } },
} as const satisfies Record<string, PlanOptions>

/** The names of the ways. */
export const PLANS = Object.keys(PLAN_LIMITS) as (keyof typeof PLAN_LIMITS)[]
