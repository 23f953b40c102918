import { SQLDialect } from '@codemirror/lang-sql'

/** What ClickHouse reads, as far as reading statements need it. */
export const CLICKHOUSE = SQLDialect.define({
  keywords:
    'select from where prewhere group by having order limit offset with as distinct on using join inner left right full cross asof any all anti semi array union except intersect and or not in like ilike between is null case when then else end interval asc desc nulls first last final sample over partition rows range unbounded preceding following current row window totals rollup cube grouping sets ties fill step to values explain show tables describe table qualify global true false',
  types:
    'uint8 uint16 uint32 uint64 uint128 uint256 int8 int16 int32 int64 int128 int256 float32 float64 decimal decimal32 decimal64 decimal128 decimal256 string fixedstring bool date date32 datetime datetime64 uuid array map tuple nullable lowcardinality json ipv4 ipv6 enum8 enum16',
  builtin:
    'count countIf sum sumIf avg min max any anyLast argMin argMax uniq uniqExact quantile quantiles median groupArray groupUniqArray topK toStartOfHour toStartOfDay toStartOfWeek toStartOfMonth toStartOfInterval toDate toDateTime toDateTime64 toUnixTimestamp now today yesterday dateDiff formatDateTime toString toFloat64 toUInt64 toInt256 toUInt256 toDecimal128 round floor ceil abs greatest least if multiIf coalesce ifNull nullIf length lower upper substring splitByChar concat replaceAll match extract arrayJoin arrayMap arrayFilter arraySort arraySum mapKeys mapValues has hex unhex bar runningDifference row_number rank dense_rank lag lead first_value last_value numbers generateSeries',
  operatorChars: '*+-%<>!=&|/~^?:',
  identifierQuotes: '`"',
  backslashEscapes: true,
  caseInsensitiveIdentifiers: false,
})
