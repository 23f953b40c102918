/** A session's own settings, as far as they differ from the engine's defaults. */
export interface SessionState {
  readonly database: string
  readonly settings: Readonly<Record<string, string>>
}

/** A session nobody has used. */
export const FRESH_SESSION: SessionState = { database: 'default', settings: {} }

const SETTING_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/

/** A value as a ClickHouse string literal. */
export function quoteLiteral(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\0', '\\0')}'`
}

/**
 * The statements that bring a session from one state to another. `readonly` comes last, as nothing can be set after it;
 * a session that has it is used again for the same settings only, and keeps it.
 */
export function statementsBetween(from: SessionState, to: SessionState): readonly string[] {
  const assignments: string[] = []
  for (const name of Object.keys(from.settings)) {
    if (!(name in to.settings)) assignments.push(`${name} = default`)
  }
  for (const [name, value] of Object.entries(to.settings)) {
    if (!SETTING_NAME.test(name)) {
      throw new Error(
        `Code: 115. DB::Exception: Setting ${name} is neither a builtin setting nor started with the prefix 'SQL_'. (UNKNOWN_SETTING)`,
      )
    }
    if (from.settings[name] !== value && name !== 'readonly')
      assignments.push(`${name} = ${quoteLiteral(value)}`)
  }
  const statements: string[] = []
  if (from.database !== to.database) {
    statements.push(`use \`${to.database.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``)
  }
  if (assignments.length > 0) statements.push(`set ${assignments.join(', ')}`)
  const readonly = to.settings['readonly']
  if (readonly !== undefined && readonly !== from.settings['readonly'])
    statements.push(`set readonly = ${quoteLiteral(readonly)}`)
  return statements
}

/** The statement that binds `{name:Type}` placeholders; null where there are none. */
export function parameterStatement(parameters: Readonly<Record<string, string>>): string | null {
  const assignments = Object.entries(parameters).map(([name, value]) => {
    if (!SETTING_NAME.test(name)) {
      throw new Error(`Code: 36. DB::Exception: Parameter name '${name}' is no identifier. (BAD_ARGUMENTS)`)
    }
    return `param_${name} = ${quoteLiteral(value)}`
  })
  return assignments.length === 0 ? null : `set ${assignments.join(', ')}`
}
