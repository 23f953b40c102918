import { createRandom } from '../random.ts'

const DAY_MICROS = 86_400 * 1e6
const DAYS = 30
const SERIES = 1000
const BLOCK_MICROS = 12e6

/** A month of a counter and a gauge of a thousand series each, in the order of time, as a processor sends them. */
export interface Lines {
  /** As records of our API, a line each. */
  records(first: number, count: number): string
  /** The same samples as lines of VictoriaMetrics' `/api/v1/import`. */
  imports(first: number, count: number): string
  /** The block of a sample. */
  blockOf(index: number): number
  readonly endMicros: number
}

export function createLines(total: number, endAt: number): Lines {
  const startMicros = endAt * 1000 - DAYS * DAY_MICROS
  const timeOf = (index: number) => Math.floor(startMicros + (DAYS * DAY_MICROS * index) / total)
  const blockOf = (index: number) => Math.floor(timeOf(index) / BLOCK_MICROS)
  return {
    blockOf,
    endMicros: endAt * 1000,
    records: (first, count) =>
      each(first, count, (index, value) => {
        const series = Math.floor(index / 2) % SERIES
        const type = index % 2 === 1 ? 'counter' : 'gauge'
        return `{"type":"${type}","name":"bench_${type}","value":${value},"labels":{"series":"${series}","group":"${series % 10}"},"chain":"1","blockNumber":${blockOf(index)},"timestampMicros":${timeOf(index)}}\n`
      }),
    imports: (first, count) =>
      each(first, count, (index, value) => {
        const series = Math.floor(index / 2) % SERIES
        const type = index % 2 === 1 ? 'counter' : 'gauge'
        return `{"metric":{"__name__":"bench_${type}","series":"${series}","group":"${series % 10}","chain":"1"},"values":[${value}],"timestamps":[${Math.floor(timeOf(index) / 1000)}]}\n`
      }),
  }
}

function each(first: number, count: number, line: (index: number, value: number) => string): string {
  const random = createRandom(first + 1)
  let text = ''
  for (let index = first; index < first + count; index++)
    text += line(index, Math.round(random() * 1e6) / 100)
  return text
}
