/** What the engine's parser may go on with, by what it means to who writes a statement. The names are the parser's own. */
const GROUPS: readonly (readonly [meaning: string, names: RegExp])[] = [
  [
    'an expression',
    /^(expression with optional alias|element of expression.*|lambda expression|CAST operator|NOT|INTERVAL|CASE|DATE|TIMESTAMP|tuple|collection of literals|array|number|literal|NULL|Bool|TRUE|FALSE|string literal|(qualified )?asterisk|(compound )?identifier|(qualified )?COLUMNS.*|function name|substitution|MySQL-style global variable)$/,
  ],
  [
    'an operator',
    /^(token sequence|token|Dot|DoubleColon|OR|AND|IS .*|(NOT )?BETWEEN|(NOT )?I?LIKE|REGEXP|(GLOBAL )?(NOT )?IN|AT TIME ZONE|MOD|DIV)$/,
  ],
  ['an alias', /^(alias|AS)$/],
  [
    'a join',
    /^(FINAL|SAMPLE|STREAM|table|table function|subquery or list of joined tables|array join|LEFT ARRAY JOIN|INNER|ARRAY JOIN|GLOBAL|LOCAL|NATURAL|ANY|ALL|ASOF|SEMI|ANTI|ONLY|LEFT|RIGHT|FULL|CROSS|PASTE|JOIN|token|OpeningRoundBracket)$/,
  ],
  ['a comma', /^Comma$/],
  ['the end of the statement', /^end of query$/],
]
/** Fewer of a group are told by their names. */
const GROUPED_MIN = 5
const ALONE = new Set(['an alias', 'a comma', 'the end of the statement'])
/** Not for callers. */
const UNTOLD = /^(SETTINGS|token|token sequence|Parser\w+|STREAM|FETCH|WINDOW|QUALIFY|PREWHERE)$/
/** What stands in a statement, of what the parser has names for. */
const CHARACTERS: Readonly<Record<string, string>> = {
  Dot: '.',
  Comma: 'a comma',
  OpeningRoundBracket: '(',
  ClosingRoundBracket: ')',
  OpeningSquareBracket: '[',
  ClosingSquareBracket: ']',
}
const TOLD_MAX = 10

/** Shortens the list of all that could have followed where a statement was not understood, which the engine gives in words of its parser (ER-4). */
export function shortenExpected(message: string): string {
  return message.replace(
    /Expected one of: ([^.]+)(?=\.|$)/,
    (_, list: string) => `Expected ${oneOf(toldOf(list.split(', ')))}`,
  )
}

function toldOf(names: readonly string[]): readonly string[] {
  const told = new Set<string>()
  for (const name of names) {
    const group = GROUPS.find(
      ([meaning, pattern]) => pattern.test(name) && (ALONE.has(meaning) || isMany(names, pattern)),
    )
    if (group) told.add(group[0])
    else if (!UNTOLD.test(name)) told.add(CHARACTERS[name] ?? name)
  }
  return [...told]
}

function isMany(names: readonly string[], pattern: RegExp): boolean {
  return names.filter((name) => pattern.test(name)).length >= GROUPED_MIN
}

function oneOf(told: readonly string[]): string {
  if (told.length < 2) return told.join('')
  const shown = told.length > TOLD_MAX ? told.slice(0, TOLD_MAX - 1) : told.slice(0, -1)
  const more = told.length - shown.length
  return `one of: ${shown.join(', ')} or ${more > 1 ? `${more} others` : told.at(-1)}`
}
