import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EVENT_COLUMNS } from '../clickhouse/layout.ts'
import { cleanName } from '../platform/clean-name.ts'
import { RESERVED_ATTRIBUTES } from './name.ts'

describe('names (IN-5)', () => {
  it('turns everything but letters, digits and _ into _', () => {
    expect(cleanName('burn_sum')).toBe('burn_sum')
    expect(cleanName('a.b-c`d"e\'f;g h\u0000')).toBe('a_b_c_d_e_f_g_h_')
    expect(cleanName('Übertrag 転送')).toBe('Übertrag_転送')
    expect(cleanName('😀')).toBe('_')
  })

  it('leaves a clean name as it is, and makes no name longer', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (name) => {
        const clean = cleanName(name)
        expect(cleanName(clean)).toBe(clean)
        expect(clean.length).toBeLessThanOrEqual(name.normalize('NFC').length)
        expect(clean).toMatch(/^[\p{L}\p{M}\p{N}_]*$/u)
      }),
    )
  })

  it('reserves exactly the columns that every event log has', () => {
    expect([...RESERVED_ATTRIBUTES]).toEqual(Object.keys(EVENT_COLUMNS))
  })
})
