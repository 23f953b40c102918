/**
 * The wire as far as the SDK speaks it, so that the package needs no other. Written by `npm run reference` from
 * `packages/contract`; a test keeps them equal.
 */

/** Also accepted in snake_case. */
export interface CachePolicyRequest {
  /** An older answer is not used. Default 15 days. */
  readonly cacheTtlSecs?: number | null
  /** An older answer is used and renewed in the background. Default 60 seconds. */
  readonly cacheRefreshTtlSecs?: number | null
  /** Neither read, nor stored, nor renewed. Not together with forceRefresh. */
  readonly noCache?: boolean | null
  /** Computed now, and stored. */
  readonly forceRefresh?: boolean | null
}

export interface ComputeStats {
  /** When it was computed, RFC 3339. */
  readonly computedAt: string
  /** Decimal. */
  readonly computeCostMs: string
  readonly isCached: boolean
  readonly isRefreshing: boolean
  /** Computed for this request, or kept in memory or in the control database. */
  readonly source?: 'computed' | 'memory' | 'store'
  /** From when on this cache policy takes it no more, RFC 3339. */
  readonly expiresAt?: string
  /** How many changes of the data it includes, decimal. */
  readonly dataVersion?: string
  /** The highest block of each chain that the data held when it was computed, decimal. */
  readonly blockHeights?: Readonly<Record<string, string>>
  /** SQL with a `runId`: rows of tables read, of a result with a cursor those read before its first page. */
  readonly rowsRead?: number
  /** Why it was not renewed when that was last tried, and when it will be tried again. */
  readonly refreshFailure?: {
    readonly message: string
    readonly attempts: number
    readonly retryAt: string
  }
}

export interface MetricQuery {
  /** Name of the metric. */
  readonly query?: string | null
  /** Values that series must have; `!=`, `=~` and `!~` before a value are matchers. */
  readonly labelSelector?: Readonly<Record<string, string>> | null
  readonly aggregate?: {
    /** AVG, SUM, MIN, MAX or COUNT. Absent: AVG. */
    readonly op?: string | null
    readonly grouping?: readonly string[] | null
  } | null
  /** Display name; `{{label}}` is replaced by its value. */
  readonly alias?: string | null
  /** How formulas refer to it. */
  readonly id?: string | null
  /** Computed for formulas only, never returned. */
  readonly disabled?: boolean | null
  readonly functions?:
    | readonly {
        readonly name?: string | null
        readonly arguments?:
          | readonly {
              readonly durationValue?: {
                readonly value?: number | null
                /** s m h d w mo M y, or their English names. */
                readonly unit?: string | null
              } | null
              readonly intValue?: number | null
              readonly doubleValue?: number | null
              readonly stringValue?: string | null
              readonly boolValue?: boolean | null
            }[]
          | null
      }[]
    | null
}

export interface MetricFormula {
  readonly expression?: string | null
  /** Display name; `{{label}}` is replaced by its value. */
  readonly alias?: string | null
  /** How formulas refer to it. */
  readonly id?: string | null
  /** Computed for formulas only, never returned. */
  readonly disabled?: boolean | null
  readonly functions?:
    | readonly {
        readonly name?: string | null
        readonly arguments?:
          | readonly {
              readonly durationValue?: {
                readonly value?: number | null
                /** s m h d w mo M y, or their English names. */
                readonly unit?: string | null
              } | null
              readonly intValue?: number | null
              readonly doubleValue?: number | null
              readonly stringValue?: string | null
              readonly boolValue?: boolean | null
            }[]
          | null
      }[]
    | null
}

export interface QueryRangeRequest {
  readonly timeRange: {
    /** `now`, `now-<n><unit>` or `-<n><unit>` with a unit of s m h d w mo M y, or milliseconds (below 100 000 000 000: seconds) since 1970 UTC. */
    readonly start: string | number
    /** `now`, `now-<n><unit>` or `-<n><unit>` with a unit of s m h d w mo M y, or milliseconds (below 100 000 000 000: seconds) since 1970 UTC. */
    readonly end: string | number
    /** Seconds between points. It is raised when the range would have more than 1000. 604800 is a week from Monday, 2592000 a calendar month, 31536000 a calendar year. Absent: the shortest that fits. */
    readonly step?: number | null
    /** A tz database name. Absent: UTC. */
    readonly timezone?: string | null
  }
  readonly queries?: readonly MetricQuery[] | null
  readonly formulas?: readonly MetricFormula[] | null
  /** Series per result; absent or 0: 1000, at most 10 000. */
  readonly samplesLimit?: number | null
  /** Series to leave out first. */
  readonly samplesOffset?: number | null
  /** Processor version; absent or 0 is the active one. */
  readonly version?: number | null
  /** Adds `explain`. The answer is computed for it: neither taken from the cache nor kept. */
  readonly explain?: boolean | null
  /** Also accepted in snake_case. */
  readonly cachePolicy?: CachePolicyRequest | null
}

export interface QueryRangeAnswer {
  readonly results: readonly {
    readonly id?: string
    readonly alias?: string
    /** Why this query has no result. */
    readonly error?: string
    readonly matrix?: {
      readonly samples: readonly {
        readonly metric: {
          readonly name: string
          readonly labels: Readonly<Record<string, string>>
          readonly displayName: string
        }
        readonly values: readonly {
          /** Unix seconds, decimal. */
          readonly timestamp: string
          readonly value: number
        }[]
      }[]
      /** Number of series in `samples`. */
      readonly totalSamples: number
      /** Number of series before the limit. */
      readonly totalSeries: number
    }
    readonly computeStats: ComputeStats
  }[]
  readonly timeRange: {
    /** The first grid point, RFC 3339. */
    readonly start: string
    /** The last grid point, RFC 3339. */
    readonly end: string
    /** Seconds. */
    readonly step: number
    /** True when the step is not the one asked for. */
    readonly adjusted: boolean
    readonly timezone: string
  }
  /** What was adjusted, and what is almost surely not meant. */
  readonly warnings: readonly string[]
  readonly explain?: {
    readonly queries: readonly {
      /** Where the query stands in the request. */
      readonly field: string
      readonly id?: string
      /** The metric or event log. */
      readonly name: string
      readonly plan?: {
        /** Conditions on labels. */
        readonly selector: readonly string[]
        /** What looks at the samples. */
        readonly samples: string
        /** What follows on grid values, in order. */
        readonly afterwards: readonly string[]
        /** RFC 3339; absent: the beginning of the series. */
        readonly from?: string
        /** RFC 3339. */
        readonly to: string
        /** Stretches of time that statistics are read of. */
        readonly cells: number
        /** What is read of each stretch, by the types of series that were found. */
        readonly statistics: {
          readonly counter?: readonly string[]
          readonly gauge?: readonly string[]
        }
      }
      readonly series: {
        /** Of the metric. */
        readonly known?: number
        /** By the labelSelector. */
        readonly matched?: number
        /** After functions and aggregation, before the limit. */
        readonly returned: number
      }
      readonly samples?: {
        /** Rows of samples and rollups that the engine expected to look at. */
        readonly estimatedRows?: number
        /** Samples read one by one. */
        readonly read: number
        /** Samples not read because rollups stood for them. */
        readonly inRollups: number
        /** The rollups used, by their buckets. */
        readonly rollups: readonly string[]
      }
      readonly stagesMs: {
        /** Milliseconds. */
        readonly plan: number
        /** Milliseconds. */
        readonly execute: number
        /** Milliseconds. */
        readonly evaluate: number
      }
    }[]
    /** Summed over queries, which run at the same time. */
    readonly stagesMs: {
      /** Milliseconds. */
      readonly plan: number
      /** Milliseconds. */
      readonly execute: number
      /** Milliseconds. */
      readonly evaluate: number
      /** Milliseconds. */
      readonly formulas: number
      /** Milliseconds. */
      readonly respond: number
    }
    /** Milliseconds. */
    readonly totalMs: number
  }
  readonly compute_stats?: {
    /** When it was computed, RFC 3339. */
    readonly computed_at: string
    readonly is_cached: boolean
    readonly is_refreshing: boolean
  }
}

export interface SqlQuery {
  /** One SELECT-like statement in the dialect of ClickHouse. */
  readonly sql?: string | null
  /** Rows a page. Absent: 1000. More than 1 000 000 is served as that, with a cursor. */
  readonly size?: number | null
  /** Values of `{name:Type}` and `${name}` placeholders: plain JSON, or `{fields: {…}}`. */
  readonly parameters?: Readonly<Record<string, unknown>> | null
  /** Where sql is absent: the saved query of that name. */
  readonly name?: string | null
  /** Where sql and name are absent: the saved query of that id. */
  readonly queryId?: string | null
}

export interface SqlExecuteAnswer {
  /** Milliseconds, decimal. */
  readonly runtimeCost: string
  readonly result: {
    readonly columns: readonly string[]
    readonly columnTypes: Readonly<
      Record<string, 'STRING' | 'NUMBER' | 'BOOLEAN' | 'LIST' | 'TIME' | 'MAP' | 'JSON' | 'TOKEN' | 'DYNAMIC'>
    >
    readonly rows: readonly Readonly<Record<string, unknown>>[]
    /** When the statement was executed, RFC 3339. */
    readonly generatedAt: string
    /** Where the next page begins; empty when there is none. */
    readonly cursor: string
  }
  readonly computeStats: ComputeStats
  readonly warnings?: readonly string[]
  /** The same cursor, under /api/v1. */
  readonly cursor?: string
  readonly compute_stats?: {
    /** When it was computed, RFC 3339. */
    readonly computed_at: string
    readonly is_cached: boolean
    readonly is_refreshing: boolean
  }
}

export interface DeadLetterAnswer {
  readonly messages: readonly {
    /** Identifier of the batch, a decimal number. */
    readonly id: string
    /** Numbers and times as text. */
    readonly attributes: {
      readonly channel_name: string
      readonly attempts: string
      readonly last_status: string
      readonly last_error: string
      readonly died_at: string
    }
    /** JSON text of the array of webhook messages. */
    readonly data: string
  }[]
}
