import { nearestNames } from './nearest-names.ts'
import type { EngineFunction, SqlEngine } from './sql-engine.ts'

/**
 * Chapters of the engine's manual whose functions compute from their arguments alone. Whatever stands in another
 * chapter, in none, or comes with a later engine is refused until it is named here (SQ-2).
 */
const CATEGORIES = new Set([
  'Arithmetic',
  'Arrays',
  'Bit',
  'Bitmap',
  'Comparison',
  'Conditional',
  'Dates and Times',
  'Distance',
  'Encoding',
  'Encryption',
  'Financial',
  'Geo',
  'Geo Polygon',
  'Hash',
  'IP Address',
  'JSON',
  'Logical',
  'Map',
  'Mathematical',
  'Null',
  'NumericIndexedVector',
  'Random Number',
  'Rounding',
  'String',
  'String Replacement',
  'String Search',
  'String Splitting',
  'Time Series',
  'Time Window',
  'Tuple',
  'Type Conversion',
  'URL',
  'UUID',
])

/** Harmless functions of the other chapters, and syntax that the tree shows as a function; `_CAST` is a bound parameter. */
const ALSO_ALLOWED = [
  '_CAST',
  'bar',
  'blockNumber',
  'byteSize',
  'caseWithExpr',
  'caseWithExpression',
  'caseWithoutExpr',
  'caseWithoutExpression',
  'colorOKLABToSRGB',
  'colorOKLCHToSRGB',
  'colorSRGBToOKLAB',
  'colorSRGBToOKLCH',
  'countDigits',
  // Its answer is cleaned of the engine's own names.
  'currentDatabase',
  'current_date',
  'defaultValueOfArgumentType',
  'defaultValueOfTypeName',
  'digits',
  'exists',
  'finalizeAggregation',
  'flipCoordinates',
  'formatReadableDecimalSize',
  'formatReadableQuantity',
  'formatReadableSize',
  'formatReadableTimeDelta',
  'getSubcolumn',
  'grouping',
  'identity',
  'ignore',
  'initializeAggregation',
  'isConstant',
  'isDecimalOverflow',
  'JSONMergePatch',
  'lambda',
  'MACNumToString',
  'MACStringToNum',
  'MACStringToOUI',
  'materialize',
  'minSampleSizeContinuous',
  'minSampleSizeConversion',
  'neighbor',
  'parseReadableSize',
  'parseReadableSizeOrNull',
  'parseReadableSizeOrZero',
  'parseTimeDelta',
  'readWKB',
  'readWKT',
  'rowNumberInAllBlocks',
  'rowNumberInBlock',
  'runningAccumulate',
  'runningDifference',
  'runningDifferenceStartingWithFirstValue',
  'svg',
  'throwIf',
  'toColumnTypeName',
  'timezoneOffset',
  'toTimeZone',
  'toTypeName',
  'transform',
  'unnest',
  'untuple',
  'variantElement',
  'variantType',
  'version',
  'visibleWidth',
  'wkt',
] as const

/** Refused although their chapter is allowed: they take the name of a format, some of which read schema files. */
const REFUSED = new Set(['formatrow', 'formatrownonewline', 'chdb', 'servertimezone', 'flamegraph'])

/** Suffixes that make another aggregate function of one. */
const COMBINATOR =
  /(If|Array|Map|SimpleState|State|Merge|MergeState|ForEach|Distinct|OrDefault|OrNull|Resample|ArgMin|ArgMax|Null)$/

/** Table functions without side effects that read no data but their arguments'. `view` and `viewExplain` hold a query. */
const TABLE_FUNCTIONS = new Set([
  'generaterandom',
  'generateseries',
  'generate_series',
  'null',
  'numbers',
  'numbers_mt',
  'primes',
  'sqlstandardvalues',
  'values',
  'view',
  'viewexplain',
  'zeros',
  'zeros_mt',
])

/** Which functions a statement may call. */
export interface AllowedFunctions {
  allows(name: string): boolean
  allowsTable(name: string): boolean
  /** Does the engine know a function of this name, allowed or not? */
  isKnown(name: string): boolean
  /** Allowed functions with names much like this one, the most alike first. */
  nearest(name: string): readonly string[]
}

/** Decides over the functions that the engine knows. */
function createAllowedFunctions(known: readonly EngineFunction[]): AllowedFunctions {
  const byName = new Map(known.map((each) => [each.name.toLowerCase(), each]))
  const also = new Set<string>(ALSO_ALLOWED.map((name) => name.toLowerCase()))
  const aggregates = new Set(known.filter((each) => each.isAggregate).map((each) => each.name))

  function allows(name: string): boolean {
    const lower = name.toLowerCase()
    if (REFUSED.has(lower)) return false
    if (also.has(lower)) return true
    const found = byName.get(lower)
    if (!found) return isCombined(name)
    if (found.aliasTo !== '' && found.aliasTo.toLowerCase() !== lower) return allows(found.aliasTo)
    return found.isAggregate || CATEGORIES.has(found.category)
  }

  function isCombined(name: string): boolean {
    for (let base = name.replace(COMBINATOR, ''), last = name; base !== last;) {
      if (aggregates.has(base) || aggregates.has(base.toLowerCase())) return allows(base)
      last = base
      base = base.replace(COMBINATOR, '')
    }
    return false
  }

  return {
    allows,
    allowsTable: (name) => TABLE_FUNCTIONS.has(name.toLowerCase()),
    isKnown: (name) => byName.has(name.toLowerCase()) || also.has(name.toLowerCase()) || isCombined(name),
    nearest: (name) =>
      nearestNames(
        name,
        known.map((each) => each.name).filter((each) => allows(each)),
      ),
  }
}

/** Asks the engine for its functions once; a failure is not kept. */
export function askAllowedFunctions(engine: Pick<SqlEngine, 'functions'>): () => Promise<AllowedFunctions> {
  let allowed: Promise<AllowedFunctions> | null = null
  return () => {
    allowed ??= engine.functions().then(createAllowedFunctions)
    allowed.catch(() => {
      allowed = null
    })
    return allowed
  }
}
