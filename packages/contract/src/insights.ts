import { Type } from 'typebox'
import { CachePolicyRequest } from './cache.ts'
import { ExplainRequest, MetricFormula, MetricQuery, QueryRangeAnswer, TimeRangeRequest } from './metrics.ts'

const Duration = Type.Object({
  value: Type.Optional(Type.Number()),
  unit: Type.Optional(Type.String({ description: 's m h d w mo M y, or their English names.' })),
})

/** A value to compare with: one of its members. */
const AnyValue = Type.Object({
  intValue: Type.Optional(Type.Integer()),
  longValue: Type.Optional(Type.String({ maxLength: 128, description: 'Decimal.' })),
  doubleValue: Type.Optional(Type.Number()),
  stringValue: Type.Optional(Type.String({ maxLength: 4096 })),
  boolValue: Type.Optional(Type.Boolean()),
  dateValue: Type.Optional(Type.String({ maxLength: 64, description: 'RFC 3339.' })),
  listValue: Type.Optional(
    Type.Object({ values: Type.Optional(Type.Array(Type.String(), { maxItems: 1000 })) }),
  ),
})

const Selector = Type.Object({
  key: Type.Optional(Type.String({ maxLength: 512, description: 'A column or attribute of the event log.' })),
  operator: Type.Optional(
    Type.String({
      description:
        'EQ NEQ EXISTS NOT_EXISTS GT GTE LT LTE BETWEEN NOT_BETWEEN CONTAINS NOT_CONTAINS. Absent: EQ.',
    }),
  ),
  value: Type.Optional(Type.Array(AnyValue, { maxItems: 1000 })),
})

/** A condition on events: a selector, or expressions joined by AND or OR. */
export const EventSelector = Type.Object({
  selector: Type.Optional(Selector),
  logicExpr: Type.Optional(
    Type.Object({
      expressions: Type.Optional(
        Type.Array(Type.Unknown(), { maxItems: 64, description: 'Conditions of the same form.' }),
      ),
      operator: Type.Optional(Type.String({ description: 'AND or OR. Absent: AND.' })),
    }),
  ),
})
export type EventSelector = Type.Static<typeof EventSelector>

/** A query of an event log. */
export const EventQuery = Type.Object({
  resource: Type.Optional(
    Type.Object({
      name: Type.Optional(Type.String({ maxLength: 512, description: 'Name of the event log.' })),
      type: Type.Optional(Type.String()),
    }),
  ),
  alias: Type.Optional(Type.String({ maxLength: 4096 })),
  id: Type.Optional(Type.String({ maxLength: 256 })),
  aggregation: Type.Optional(
    Type.Object(
      {
        total: Type.Optional(Type.Object({}, { description: 'The number of events.' })),
        unique: Type.Optional(Type.Object({}, { description: 'The number of different distinct_id.' })),
        countUnique: Type.Optional(
          Type.Object({
            duration: Type.Optional(Duration),
          }),
        ),
        aggregateProperties: Type.Optional(
          Type.Object({
            type: Type.Optional(Type.String()),
            propertyName: Type.Optional(Type.String({ maxLength: 512 })),
          }),
        ),
      },
      { 'x-choice': true },
    ),
  ),
  selectorExpr: Type.Optional(EventSelector),
  groupBy: Type.Optional(Type.Array(Type.String(), { maxItems: 16 })),
  limit: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Groups kept, those with most events first.' }),
  ),
  functions: MetricQuery.properties.functions,
  disabled: Type.Optional(Type.Boolean()),
})
export type EventQuery = Type.Static<typeof EventQuery>

/** Body of `POST …/insights/{owner}/{project}/query`. */
export const InsightsRequest = Type.Object({
  timeRange: TimeRangeRequest,
  queries: Type.Optional(
    Type.Array(
      Type.Object({
        metricsQuery: Type.Optional(MetricQuery),
        eventsQuery: Type.Optional(EventQuery),
        dataSource: Type.Optional(Type.String()),
        sourceName: Type.Optional(Type.String()),
      }),
      { maxItems: 100 },
    ),
  ),
  formulas: Type.Optional(Type.Array(MetricFormula, { maxItems: 100 })),
  limit: Type.Optional(
    Type.Integer({ minimum: 0, 'x-elsewhere': 'samplesLimit', description: 'Series per result.' }),
  ),
  offset: Type.Optional(Type.Integer({ minimum: 0, description: 'Series to leave out first.' })),
  version: Type.Optional(Type.Integer({ minimum: 0 })),
  explain: Type.Optional(ExplainRequest),
  cachePolicy: Type.Optional(CachePolicyRequest),
})
export type InsightsRequest = Type.Static<typeof InsightsRequest>

/** Answer of an insights query: that of a range query, each result with its source. */
export const InsightsAnswer = Type.Object({
  ...QueryRangeAnswer.properties,
  results: Type.Array(
    Type.Object({
      ...QueryRangeAnswer.properties.results.items.properties,
      dataSource: Type.String({ description: 'METRICS, EVENTS or FORMULA.' }),
    }),
  ),
})
export type InsightsAnswer = Type.Static<typeof InsightsAnswer>
