import type { QueryRangeAnswer } from '@millrace/contract'
import type { AnswerOutcome } from '../../metrics/answer-through-cache.ts'
import type { PlanDescription } from '../../metrics/explain-query.ts'
import { cacheTiming } from '../cache-timing.ts'

type WireExplain = NonNullable<QueryRangeAnswer['explain']>

/** The member `explain` of an answer for those who asked for it; empty otherwise. */
export function explainToWire(
  { explanation, totalMs }: AnswerOutcome,
  isExplained: boolean | undefined,
): { readonly explain?: WireExplain } {
  if (!isExplained || !explanation) return {}
  const queries = explanation.queries.map(({ field, id, name, plan, reading, returnedSeries, stagesMs }) => ({
    field,
    ...(id === null ? {} : { id }),
    name,
    ...(plan === null ? {} : { plan: planToWire(plan) }),
    series: {
      ...(reading === null ? {} : { known: reading.knownSeries, matched: reading.matchedSeries }),
      returned: returnedSeries,
    },
    ...(reading === null
      ? {}
      : {
          samples: {
            ...(reading.estimatedRows === null ? {} : { estimatedRows: reading.estimatedRows }),
            read: reading.samplesRead,
            inRollups: reading.samplesInRollups,
            rollups: [...reading.rollups],
          },
        }),
    stagesMs: rounded(stagesMs),
  }))
  return { explain: { queries, stagesMs: rounded(explanation.stagesMs), totalMs: round(totalMs) } }
}

function planToWire({ selector, samples, afterwards, fromAt, toAt, cells, statistics }: PlanDescription) {
  return {
    selector: [...selector],
    samples,
    afterwards: [...afterwards],
    ...(fromAt === null ? {} : { from: new Date(fromAt).toISOString() }),
    to: new Date(toAt).toISOString(),
    cells,
    statistics: Object.fromEntries(Object.entries(statistics).map(([type, names]) => [type, [...names]])),
  }
}

/** The `Server-Timing` of an outcome. */
export function serverTiming({ stats, explanation, totalMs }: AnswerOutcome): string {
  return cacheTiming(stats, totalMs, explanation?.stagesMs)
}

function rounded<Stage extends string>(stages: Readonly<Record<Stage, number>>): Record<Stage, number> {
  const all = Object.entries<number>(stages).map(([stage, ms]) => [stage, round(ms)])
  return Object.fromEntries(all) as Record<Stage, number>
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100
}
