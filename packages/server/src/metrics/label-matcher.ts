/** A condition on a label's value; the regular expressions are RE2, anchored at both ends (MQ-4). */
export interface LabelMatcher {
  readonly label: string
  readonly operator: '=' | '!=' | '=~' | '!~'
  readonly value: string
}

/** The conditions of a `labelSelector`, all of which must hold; values that begin with an operator are matchers (MQ-4). */
export function parseLabelSelector(selector: Readonly<Record<string, string>>): LabelMatcher[] {
  return Object.entries(selector)
    .map(([label, text]) => parseMatcher(label, text))
    .toSorted((a, b) => (a.label < b.label ? -1 : 1))
}

function parseMatcher(label: string, text: string): LabelMatcher {
  for (const operator of ['=~', '!~', '!='] as const) {
    if (text.startsWith(operator)) return { label, operator, value: text.slice(operator.length) }
  }
  return { label, operator: '=', value: text }
}
