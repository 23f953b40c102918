/** Numbers of one name, as Prometheus reads them. */
export interface Family {
  /** Without the endings of a histogram. */
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly samples: readonly Sample[]
}

/** A number, and what tells it from the others of its family. */
export interface Sample {
  /** Of a histogram's parts, e.g. `_bucket`. */
  readonly ending?: '_bucket' | '_sum' | '_count'
  readonly labels?: Readonly<Record<string, string | number>>
  readonly value: number
}

/** A family of one number that only grows. */
export function counter(name: string, help: string, value: number): Family {
  return { name, help, type: 'counter', samples: [{ value }] }
}

/** A family of one number that goes up and down. */
export function gauge(name: string, help: string, value: number): Family {
  return { name, help, type: 'gauge', samples: [{ value }] }
}

/** Writes families in the text format of Prometheus, version 0.0.4. */
export function writeFamilies(families: readonly Family[]): string {
  return families
    .flatMap(({ name, help, type, samples }) => [
      `# HELP ${name} ${help}`,
      `# TYPE ${name} ${type}`,
      ...samples.map(
        ({ ending = '', labels = {}, value }) => `${name}${ending}${writeLabels(labels)} ${value}`,
      ),
      '',
    ])
    .filter((line) => line !== '')
    .concat('')
    .join('\n')
}

function writeLabels(labels: Readonly<Record<string, string | number>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escape(String(value))}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escape(text: string): string {
  return text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', String.raw`\"`)
    .replaceAll('\n', String.raw`\n`)
}
