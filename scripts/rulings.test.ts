import { describe, expect, it } from 'vitest'
import { citedRulings, readPending, readRulings, rulingFaults } from './rulings.ts'

const RULINGS = readRulings('## X\n- WI-1 first\n  more, see WI-9\n- WI-2 second\n- WI-3 third\n')
const NOTHING = { notBuilt: [], inPart: [] }
const test = (text: string) => ({ path: 'a.test.ts', text, isTest: true })

describe('the rulings and their tests', () => {
  it('reads the ids that a page rules on, not those it mentions', () => {
    expect(RULINGS).toEqual(['WI-1', 'WI-2', 'WI-3'])
  })

  it('reads the two tables of pending rulings', () => {
    const page = '## Not built yet\n\n| WI-1 | all |\n\n## Built in part\n\n| WI-2   | much |\n'
    expect(readPending(page)).toEqual({ notBuilt: ['WI-1'], inPart: ['WI-2'] })
  })

  it('takes a range for every ruling in it and leaves other abbreviations alone', () => {
    expect([...citedRulings('WI-1…WI-3, UTF-8, AWI-7', RULINGS)]).toEqual(['WI-1', 'WI-2', 'WI-3'])
    expect([...citedRulings('(WI-2…3)', RULINGS)]).toEqual(['WI-2', 'WI-3'])
  })

  it('finds nothing where every ruling has a test', () => {
    expect(rulingFaults(RULINGS, NOTHING, [test(`it('does all (WI-1…WI-3)')`)])).toEqual([])
  })

  it('reports a ruling without a test, and one that only a comment mentions', () => {
    const faults = rulingFaults(RULINGS, NOTHING, [test(`it('a (WI-1)')\n// WI-2\nit('b (WI-3)')`)])
    expect(faults).toEqual(['WI-2 is named by no test'])
  })

  it('reports a citation of a ruling that does not exist', () => {
    const files = [test('(WI-1…WI-3)'), { path: 'b.ts', text: '// WI-4', isTest: false }]
    expect(rulingFaults(RULINGS, NOTHING, files)).toEqual([
      'b.ts cites WI-4, which docs/rulings.md does not have',
    ])
  })

  it('reports a pending ruling that is tested', () => {
    const pending = { notBuilt: ['WI-3'], inPart: [] }
    expect(rulingFaults(RULINGS, pending, [test('(WI-1…WI-2)')])).toEqual([])
    expect(rulingFaults(RULINGS, pending, [test('(WI-1…WI-3)')])).toEqual([
      'WI-3 is listed as not built in docs/rulings-pending.md, but a.test.ts tests it',
    ])
  })
})
