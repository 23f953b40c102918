import { basename } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readSources } from './sources.ts'

const sources = readSources()
const MOST_LINES = 400
const MEDIAN_LINES = 100
/** The service itself, running: no bag of functions. */
const THE_SERVICE = 'RunningService'

describe('names and sizes', () => {
  it('names files in kebab case after what is in them', () => {
    const faults = sources
      .map(({ path }) => path)
      .filter(
        (path) =>
          !/^(\d{4}-)?[a-z][a-z0-9]*(-[a-z0-9]+)*\.ts$/.test(basename(path)) ||
          /\/(utils?|helpers?|common|misc|types)(\/|\.ts$)/.test(path),
      )
    expect(faults).toEqual([])
  })

  it('exports no manager, service, implementation or helper', () => {
    const faults = sources.flatMap(({ path, exports }) =>
      exports
        .filter(
          (name) =>
            name !== THE_SERVICE && /^([A-Z]\w*|create\w*)(Manager|Service|Impl|Helpers?|Utils?)$/.test(name),
        )
        .map((name) => `${path}: ${name}`),
    )
    expect(faults).toEqual([])
  })

  it(`keeps one idea a file: at most ${MOST_LINES} lines, the median below ${MEDIAN_LINES}`, () => {
    const lengths = sources.map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }))
    expect(lengths.filter(({ lines }) => lines > MOST_LINES)).toEqual([])
    const sorted = lengths.map(({ lines }) => lines).toSorted((a, b) => a - b)
    expect(sorted[Math.floor(sorted.length / 2)]).toBeLessThan(MEDIAN_LINES)
  })

  it('leaves no unfinished mark behind', () => {
    const faults = sources.filter(({ text }) => /\b(TODO|FIXME|XXX)\b/.test(text)).map(({ path }) => path)
    expect(faults).toEqual([])
  })
})
