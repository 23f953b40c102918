import { invalidArgument, ServiceError } from '../platform/errors.ts'
import type { AllowedFunctions } from './allowed-functions.ts'
import { asksForTotals, checkApplied, checkSyntaxTree } from './check-syntax-tree.ts'
import { maybeMeant, nearestNames } from './nearest-names.ts'
import type { SqlEngine, SqlParameters } from './sql-engine.ts'
import { CATALOGUE_SCOPE, scopeOfStatement, type StatementScope } from './statement-scope.ts'
import { readSyntaxTree, type SyntaxNode } from './syntax-tree.ts'

/** A statement that may run. */
export interface AdmittedStatement {
  readonly sql: string
  /** Equal for statements that mean the same (CA-1). */
  readonly canonical: string
  /** A query runs wrapped, so that its text cannot become anything else; the others run in their canonical form. */
  readonly isWrapped: boolean
  readonly isExplain: boolean
  /** It asks for the columns of a query, which is `sql`, instead of its rows. */
  readonly isDescribe: boolean
  /** Its rows may speak of the engine's insides. */
  readonly isCleaned: boolean
  /** The engine's strictest mode refuses it though it only reads. */
  readonly isLenient: boolean
  /** It asks for totals, which are not among its rows. */
  readonly hasTotals: boolean
  /** Functions that it defines itself. */
  readonly lambdaNames: readonly string[]
  /** What its answer depends on (CA-6). */
  readonly scope: StatementScope
  /** Of one whose checks hold for all statements of its shape: equal for those. */
  readonly shape?: string
}

/** A statement that may run, and how the engine reads it. */
export interface ReadStatement {
  readonly statement: AdmittedStatement
  /** Null for a statement about tables. */
  readonly root: SyntaxNode | null
}

const CHARACTERS_MAX = 200_000
const DESCRIBE_QUERY = /^\s*(describe|desc)(\s+table)?\s*(?=\()/i
const CATALOGUE_STATEMENT = /^(show|describe|desc|exists)\b(?!\s*\()(?!\s+table\s*\()/i
/** How statements begin that are allowed, or that are read as a part of one. */
const BEGINNINGS = ['select', 'with', 'from', 'values', 'explain', 'show', 'describe', 'desc', 'exists']

/** The statements about tables that are allowed, as the engine itself writes them. */
const CATALOGUE_FORMS = [
  /^SHOW (FULL )?TABLES( (NOT )?I?LIKE '(?:\\.|[^'\\])*')?( LIMIT \d+)?$/,
  /^DESCRIBE TABLE (`(?:[^`\\])+`|[A-Za-z_][A-Za-z0-9_]*)$/,
  /^EXISTS TABLE (`(?:[^`\\])+`|[A-Za-z_][A-Za-z0-9_]*)$/,
]

/**
 * Admits one SELECT-like statement (SQ-1, SQ-2). The engine's parser says what the statement is: nothing is concluded
 * from its text but which of two questions the parser is asked.
 */
export async function admitStatement(
  engine: SqlEngine,
  functions: AllowedFunctions,
  given: string,
  parameters: SqlParameters,
): Promise<ReadStatement> {
  const sql = trimStatement(given)
  if (sql.trim() === '') throw invalidArgument('sqlQuery.sql must be a statement')
  if (sql.length > CHARACTERS_MAX) {
    throw invalidArgument(`sqlQuery.sql has ${sql.length} characters; at most ${CHARACTERS_MAX} are allowed`)
  }
  if (CATALOGUE_STATEMENT.test(sql.trimStart())) {
    return { statement: await admitCatalogueStatement(engine, sql), root: null }
  }
  const isDescribe = DESCRIBE_QUERY.test(sql)
  // Blanks in its place keep the positions of errors.
  const query = isDescribe ? sql.replace(DESCRIBE_QUERY, (word) => ' '.repeat(word.length)) : sql
  const { tree, canonical } = await engine.parseWrapped(query, parameters).catch((error: unknown) => {
    throw isOtherKind(sql, error) ? onlyAllowed(sql) : error
  })
  checkNames(canonical)
  const root = readTree(tree)
  const checked = checkSyntaxTree(root, functions)
  checkApplied(canonical, functions)
  const statement = {
    sql: query,
    canonical: isDescribe ? `DESCRIBE ${canonical}` : canonical,
    isWrapped: true,
    isDescribe,
    ...checked,
    hasTotals: asksForTotals(canonical),
    scope: scopeOfStatement(root),
  }
  return { statement, root }
}

/** Without what may stand behind a statement. */
export function trimStatement(given: string): string {
  return given.replace(/[\s;]+$/, '')
}

async function admitCatalogueStatement(engine: SqlEngine, sql: string): Promise<AdmittedStatement> {
  const canonical = await engine.canonical(sql)
  if (!CATALOGUE_FORMS.some((form) => form.test(canonical))) {
    throw onlyAllowed(sql)
  }
  return {
    sql: canonical,
    canonical,
    isWrapped: false,
    isExplain: false,
    isDescribe: false,
    isCleaned: false,
    isLenient: false,
    hasTotals: false,
    lambdaNames: [],
    scope: CATALOGUE_SCOPE,
  }
}

/** Of what the engine could not read, its first word tells more than the place where reading ended. */
function isOtherKind(sql: string, error: unknown): boolean {
  return (
    error instanceof ServiceError && error.code === 'invalid_argument' && !BEGINNINGS.includes(firstWord(sql))
  )
}

function onlyAllowed(sql: string): ServiceError {
  const hint = BEGINNINGS.includes(firstWord(sql)) ? [] : nearestNames(firstWord(sql), BEGINNINGS, 2)
  return invalidArgument(
    `sqlQuery.sql: only SELECT, WITH, EXPLAIN, SHOW TABLES, DESCRIBE <table> and EXISTS <table> are allowed${maybeMeant(hint)}`,
  )
}

/** In small letters; a parenthesis or whatever else begins the statement is the beginning of a query perhaps. */
function firstWord(sql: string): string {
  return /^\s*([a-z]+)/i.exec(sql)?.[1]?.toLowerCase() ?? 'select'
}

function readTree(lines: readonly string[]): SyntaxNode {
  try {
    return readSyntaxTree(lines)
  } catch (cause) {
    throw invalidArgument(
      `sqlQuery.sql cannot be checked (${(cause as Error).message}); write it in a simpler way`,
    )
  }
}

/**
 * The lines of the tree hold names as they are, so a name with a line break could pretend to be nodes. The canonical
 * text has them escaped; names with escapes are refused there. A placeholder for a name would escape this check.
 */
function checkNames(canonical: string): void {
  for (const [token] of canonical.matchAll(
    /'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`|"(?:\\.|[^"\\])*"|\{\w+:\s*Identifier\}/g,
  )) {
    if (token.startsWith('{'))
      throw invalidArgument('sqlQuery.sql: placeholders of type Identifier are not allowed')
    if (!token.startsWith("'") && token.includes('\\')) {
      throw invalidArgument(
        `sqlQuery.sql: the name ${token} is not allowed: it holds a control character, quote or backslash`,
      )
    }
  }
}
