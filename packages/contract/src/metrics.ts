import { Type } from 'typebox'
import { CachePolicyRequest } from './cache.ts'

const Instant = Type.Union([Type.String({ maxLength: 64 }), Type.Integer()], {
  description:
    '`now`, `now-<n><unit>` or `-<n><unit>` with a unit of s m h d w mo M y, or milliseconds (below 100 000 000 000: seconds) since 1970 UTC.',
})

/** The range and grid of a query (interface 2.2). */
export const TimeRangeRequest = Type.Object({
  start: Instant,
  end: Instant,
  step: Type.Optional(
    Type.Integer({
      description:
        'Seconds between points. It is raised when the range would have more than 1000. 604800 is a week from Monday, 2592000 a calendar month, 31536000 a calendar year. Absent: the shortest that fits.',
    }),
  ),
  timezone: Type.Optional(Type.String({ maxLength: 64, description: 'A tz database name. Absent: UTC.' })),
})

/** An argument of a function: one of its members. */
const FunctionArgument = Type.Object({
  durationValue: Type.Optional(
    Type.Object({
      value: Type.Optional(Type.Number()),
      unit: Type.Optional(Type.String({ description: 's m h d w mo M y, or their English names.' })),
    }),
  ),
  intValue: Type.Optional(Type.Integer()),
  doubleValue: Type.Optional(Type.Number()),
  stringValue: Type.Optional(Type.String()),
  boolValue: Type.Optional(Type.Boolean()),
})

const MetricFunction = Type.Object({
  name: Type.Optional(Type.String()),
  arguments: Type.Optional(Type.Array(FunctionArgument, { maxItems: 16 })),
})

const named = {
  alias: Type.Optional(
    Type.String({ maxLength: 4096, description: 'Display name; `{{label}}` is replaced by its value.' }),
  ),
  id: Type.Optional(Type.String({ maxLength: 256, description: 'How formulas refer to it.' })),
  disabled: Type.Optional(Type.Boolean({ description: 'Computed for formulas only, never returned.' })),
  functions: Type.Optional(Type.Array(MetricFunction, { maxItems: 32 })),
}

/** One query of a metric (interface 2.1). */
export const MetricQuery = Type.Object({
  query: Type.Optional(Type.String({ maxLength: 512, description: 'Name of the metric.' })),
  labelSelector: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description: 'Values that series must have; `!=`, `=~` and `!~` before a value are matchers.',
    }),
  ),
  aggregate: Type.Optional(
    Type.Object({
      op: Type.Optional(Type.String({ description: 'AVG, SUM, MIN, MAX or COUNT. Absent: AVG.' })),
      grouping: Type.Optional(Type.Array(Type.String(), { maxItems: 64 })),
    }),
  ),
  ...named,
})
export type MetricQuery = Type.Static<typeof MetricQuery>

/** One formula over queries and earlier formulas (FO-1). */
export const MetricFormula = Type.Object({
  expression: Type.Optional(Type.String({ maxLength: 10_000 })),
  ...named,
})
export type MetricFormula = Type.Static<typeof MetricFormula>

const queries = {
  queries: Type.Optional(Type.Array(MetricQuery, { maxItems: 100 })),
  formulas: Type.Optional(Type.Array(MetricFormula, { maxItems: 100 })),
  samplesLimit: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Series per result; absent or 0: 1000, at most 10 000.' }),
  ),
  samplesOffset: Type.Optional(Type.Integer({ minimum: 0, description: 'Series to leave out first.' })),
  version: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Processor version; absent or 0 is the active one.' }),
  ),
}

/** Asks for how the answer came about. */
export const ExplainRequest = Type.Boolean({
  description: 'Adds `explain`. The answer is computed for it: neither taken from the cache nor kept.',
})

/** Body of `POST …/metrics/{owner}/{project}/query_range`. */
export const QueryRangeRequest = Type.Object({
  timeRange: TimeRangeRequest,
  ...queries,
  explain: Type.Optional(ExplainRequest),
  cachePolicy: Type.Optional(CachePolicyRequest),
})
export type QueryRangeRequest = Type.Static<typeof QueryRangeRequest>

/** Body of `POST …/metrics/{owner}/{project}/query`. */
export const QueryInstantRequest = Type.Object({
  time: Type.Optional(Instant),
  timezone: Type.Optional(Type.String({ maxLength: 64 })),
  ...queries,
  explain: Type.Optional(ExplainRequest),
  cachePolicy: Type.Optional(CachePolicyRequest),
})
export type QueryInstantRequest = Type.Static<typeof QueryInstantRequest>

const computedAt = 'When it was computed, RFC 3339.'
/** Statistics of one result (interface 2.5). */
export const ComputeStats = Type.Object({
  computedAt: Type.String({ description: computedAt }),
  computeCostMs: Type.String({ description: 'Decimal.' }),
  isCached: Type.Boolean(),
  isRefreshing: Type.Boolean(),
  source: Type.Optional(
    Type.Union([Type.Literal('computed'), Type.Literal('memory'), Type.Literal('store')], {
      description: 'Computed for this request, or kept in memory or in the control database.',
    }),
  ),
  expiresAt: Type.Optional(
    Type.String({ description: 'From when on this cache policy takes it no more, RFC 3339.' }),
  ),
  dataVersion: Type.Optional(
    Type.String({ description: 'How many changes of the data it includes, decimal.' }),
  ),
  blockHeights: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description: 'The highest block of each chain that the data held when it was computed, decimal.',
    }),
  ),
  rowsRead: Type.Optional(
    Type.Integer({
      description:
        'SQL with a `runId`: rows of tables read, of a result with a cursor those read before its first page.',
    }),
  ),
  refreshFailure: Type.Optional(
    Type.Object(
      { message: Type.String(), attempts: Type.Integer(), retryAt: Type.String() },
      { description: 'Why it was not renewed when that was last tried, and when it will be tried again.' },
    ),
  ),
})
/** The same under the interface's own names (WI-3). */
export const InterfaceComputeStats = Type.Object({
  computed_at: Type.String({ description: computedAt }),
  is_cached: Type.Boolean(),
  is_refreshing: Type.Boolean(),
})

/** One series of a result. */
const Sample = Type.Object({
  metric: Type.Object({
    name: Type.String(),
    labels: Type.Record(Type.String(), Type.String()),
    displayName: Type.String(),
  }),
  values: Type.Array(
    Type.Object({
      timestamp: Type.String({ description: 'Unix seconds, decimal.' }),
      value: Type.Number(),
    }),
  ),
})
export type MetricSample = Type.Static<typeof Sample>

const resultNames = {
  id: Type.Optional(Type.String()),
  alias: Type.Optional(Type.String()),
  error: Type.Optional(Type.String({ description: 'Why this query has no result.' })),
}
const milliseconds = Type.Number({ description: 'Milliseconds.' })
const stages = { plan: milliseconds, execute: milliseconds, evaluate: milliseconds }
const statistics = Type.Array(Type.String())

/** How an answer came about. */
export const Explain = Type.Object({
  queries: Type.Array(
    Type.Object({
      field: Type.String({ description: 'Where the query stands in the request.' }),
      id: Type.Optional(Type.String()),
      name: Type.String({ description: 'The metric or event log.' }),
      plan: Type.Optional(
        Type.Object({
          selector: Type.Array(Type.String(), { description: 'Conditions on labels.' }),
          samples: Type.String({ description: 'What looks at the samples.' }),
          afterwards: Type.Array(Type.String(), { description: 'What follows on grid values, in order.' }),
          from: Type.Optional(Type.String({ description: 'RFC 3339; absent: the beginning of the series.' })),
          to: Type.String({ description: 'RFC 3339.' }),
          cells: Type.Integer({ description: 'Stretches of time that statistics are read of.' }),
          statistics: Type.Object(
            { counter: Type.Optional(statistics), gauge: Type.Optional(statistics) },
            { description: 'What is read of each stretch, by the types of series that were found.' },
          ),
        }),
      ),
      series: Type.Object({
        known: Type.Optional(Type.Integer({ description: 'Of the metric.' })),
        matched: Type.Optional(Type.Integer({ description: 'By the labelSelector.' })),
        returned: Type.Integer({ description: 'After functions and aggregation, before the limit.' }),
      }),
      samples: Type.Optional(
        Type.Object({
          estimatedRows: Type.Optional(
            Type.Integer({ description: 'Rows of samples and rollups that the engine expected to look at.' }),
          ),
          read: Type.Integer({ description: 'Samples read one by one.' }),
          inRollups: Type.Integer({ description: 'Samples not read because rollups stood for them.' }),
          rollups: Type.Array(Type.String(), { description: 'The rollups used, by their buckets.' }),
        }),
      ),
      stagesMs: Type.Object(stages),
    }),
  ),
  stagesMs: Type.Object(
    { ...stages, formulas: milliseconds, respond: milliseconds },
    { description: 'Summed over queries, which run at the same time.' },
  ),
  totalMs: milliseconds,
})

const answerEnd = {
  warnings: Type.Array(Type.String(), {
    description: 'What was adjusted, and what is almost surely not meant.',
  }),
  explain: Type.Optional(Explain),
  compute_stats: Type.Optional(InterfaceComputeStats),
}

/** Answer of a range query. Each result has either `matrix` or `error`. */
export const QueryRangeAnswer = Type.Object({
  results: Type.Array(
    Type.Object({
      ...resultNames,
      matrix: Type.Optional(
        Type.Object({
          samples: Type.Array(Sample),
          totalSamples: Type.Integer({ description: 'Number of series in `samples`.' }),
          totalSeries: Type.Integer({ description: 'Number of series before the limit.' }),
        }),
      ),
      computeStats: ComputeStats,
    }),
  ),
  timeRange: Type.Object({
    start: Type.String({ description: 'The first grid point, RFC 3339.' }),
    end: Type.String({ description: 'The last grid point, RFC 3339.' }),
    step: Type.Integer({ description: 'Seconds.' }),
    adjusted: Type.Boolean({ description: 'True when the step is not the one asked for.' }),
    timezone: Type.String(),
  }),
  ...answerEnd,
})
export type QueryRangeAnswer = Type.Static<typeof QueryRangeAnswer>

/** Answer of an instant query. Each result has either `sample` or `error`. */
export const QueryInstantAnswer = Type.Object({
  results: Type.Array(
    Type.Object({
      ...resultNames,
      sample: Type.Optional(Type.Array(Sample)),
      computeStats: ComputeStats,
    }),
  ),
  ...answerEnd,
})
export type QueryInstantAnswer = Type.Static<typeof QueryInstantAnswer>

/** Parameters of `GET …/metrics`. */
export const MetricListQuery = Type.Object({
  projectId: Type.String({ maxLength: 256, description: '`{owner}/{project}`.' }),
  name: Type.Optional(Type.String({ maxLength: 512, description: 'One metric; absent: all.' })),
  version: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Processor version; absent or 0 is the active one.' }),
  ),
})

/** Answer of `GET …/metrics`. */
export const MetricListAnswer = Type.Object({
  metrics: Type.Array(
    Type.Object({
      name: Type.String(),
      displayName: Type.String(),
      projectId: Type.String(),
      contractName: Type.Array(Type.String()),
      contractAddress: Type.Array(Type.String()),
      chainId: Type.Array(Type.String()),
      labels: Type.Record(Type.String(), Type.Object({ values: Type.Array(Type.String()) }), {
        description: 'The values of each label, at most 1000 of each.',
      }),
      metadata: Type.Object({
        type: Type.String({ description: '`counter` or `gauge`.' }),
        unit: Type.String({ description: 'As the sender says; empty where it says none.' }),
        help: Type.String({ description: 'What is measured, as the sender says; empty where it does not.' }),
        lastSeen: Type.Optional(Type.String({ description: 'Time of the last sample, RFC 3339.' })),
      }),
      seriesCount: Type.Integer(),
    }),
  ),
})
export type MetricListAnswer = Type.Static<typeof MetricListAnswer>

/** Answer of `GET …/metrics/functions`. */
export const MetricFunctionList = Type.Object({
  functions: Type.Array(
    Type.Object({
      name: Type.String(),
      kind: Type.Union(
        [
          Type.Literal('trailing'),
          Type.Literal('leading'),
          Type.Literal('map'),
          Type.Literal('calendar'),
          Type.Literal('shift'),
          Type.Literal('rank'),
        ],
        {
          description:
            'trailing and leading reduce a window before and after each point, map works value by value, calendar reads the time alone, shift moves in time, rank keeps some series.',
        },
      ),
      arguments: Type.Array(
        Type.Object({
          name: Type.String(),
          type: Type.Union([Type.Literal('duration'), Type.Literal('number'), Type.Literal('integer')], {
            description: 'Sent as durationValue, doubleValue or intValue.',
          }),
          minimum: Type.Optional(Type.Number()),
          maximum: Type.Optional(Type.Number()),
        }),
      ),
    }),
  ),
})
export type MetricFunctionList = Type.Static<typeof MetricFunctionList>
