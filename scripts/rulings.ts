/** The ids that `docs/rulings.md` rules on, in its order. */
export function readRulings(markdown: string): readonly string[] {
  return [...markdown.matchAll(/^- ([A-Z]{2}-\d+) /gm)].map(([, id]) => id as string)
}

/** What `docs/rulings-pending.md` says of the rulings that are not, or not wholly, built. */
export interface PendingRulings {
  /** No test may name these. */
  readonly notBuilt: readonly string[]
  /** These are tested as far as they go. */
  readonly inPart: readonly string[]
}

/** Reads the two tables under the headings `Not built yet` and `Built in part`. */
export function readPending(markdown: string): PendingRulings {
  const section = (heading: string): readonly string[] => {
    const [, after = ''] = markdown.split(`## ${heading}\n`)
    const [text = ''] = after.split('\n## ')
    return [...text.matchAll(/^\| ([A-Z]{2}-\d+) +\|/gm)].map(([, id]) => id as string)
  }
  return { notBuilt: section('Not built yet'), inPart: section('Built in part') }
}

/** The rulings that a text cites, `TR-1…TR-6` meaning all six; only prefixes of `rulings` count as citations. */
export function citedRulings(text: string, rulings: readonly string[]): ReadonlySet<string> {
  const prefixes = new Set(rulings.map((id) => id.slice(0, 2)))
  const cited = new Set<string>()
  for (const [, prefix = '', first, last] of text.matchAll(
    /(?<![A-Za-z0-9-])([A-Z]{2})-(\d+)(?:…(?:\1-)?(\d+))?(?![A-Za-z0-9])/g,
  )) {
    if (!prefixes.has(prefix)) continue
    for (let number = Number(first); number <= Number(last ?? first); number++)
      cited.add(`${prefix}-${number}`)
  }
  return cited
}

/** A test file without the lines that are comments: a ruling is tested where a test is named after it. */
export function withoutComments(source: string): string {
  return source
    .split('\n')
    .filter((line) => !/^\s*(\/\/|\/\*|\*)/.test(line))
    .join('\n')
}

/** Everything that does not fit between rulings, pending rulings, and the files that cite them; empty when all fits. */
export function rulingFaults(
  rulings: readonly string[],
  pending: PendingRulings,
  files: readonly { readonly path: string; readonly text: string; readonly isTest: boolean }[],
): readonly string[] {
  const known = new Set(rulings)
  const tested = new Map<string, string>()
  const faults: string[] = []
  for (const { path, text, isTest } of files) {
    for (const id of citedRulings(text, rulings)) {
      if (!known.has(id)) faults.push(`${path} cites ${id}, which docs/rulings.md does not have`)
    }
    if (!isTest) continue
    for (const id of citedRulings(withoutComments(text), rulings)) tested.set(id, path)
  }
  for (const id of [...pending.notBuilt, ...pending.inPart]) {
    if (!known.has(id))
      faults.push(`docs/rulings-pending.md lists ${id}, which docs/rulings.md does not have`)
  }
  for (const id of rulings) {
    const path = tested.get(id)
    const isPending = pending.notBuilt.includes(id)
    if (path !== undefined && isPending) {
      faults.push(`${id} is listed as not built in docs/rulings-pending.md, but ${path} tests it`)
    }
    if (path === undefined && !isPending) faults.push(`${id} is named by no test`)
  }
  return faults
}
