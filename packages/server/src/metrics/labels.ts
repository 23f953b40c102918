/** Labels of a series; a label that is absent has the value `""` (MQ-4), so none is stored with that value. */
export type Labels = Readonly<Record<string, string>>

/** The value of a label, `""` where it is absent. */
export function labelValue(labels: Labels, name: string): string {
  return Object.hasOwn(labels, name) ? (labels[name] ?? '') : ''
}

/** The labels with these names that have a value. */
export function pickLabels(labels: Labels, names: readonly string[]): Labels {
  const picked: [string, string][] = []
  for (const name of names) {
    const value = labelValue(labels, name)
    if (value !== '') picked.push([name, value])
  }
  return Object.fromEntries(picked)
}

/** A string that is equal for equal labels only, and sorts by name, then value. */
export function labelKey(labels: Labels): string {
  const entries = Object.entries(labels).filter(([, value]) => value !== '')
  return JSON.stringify(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** `metric{name="value"}`, the way series are written in most of the field. */
export function seriesExpression(metric: string, labels: Labels): string {
  const pairs = Object.keys(labels)
    .toSorted()
    .map((name) => `${name}=${JSON.stringify(labelValue(labels, name))}`)
  return pairs.length === 0 ? metric : `${metric}{${pairs.join(',')}}`
}

/** `template` with each `{{label}}` replaced by its value (MQ-6). */
export function fillTemplate(template: string, labels: Labels): string {
  return template.replaceAll(/\{\{\s*([^{}]*?)\s*\}\}/g, (_, name: string) => labelValue(labels, name))
}
