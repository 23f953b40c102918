import { expect, it } from 'vitest'
import type { StoredSeries } from './bucket-source.ts'
import type { LabelMatcher } from './label-matcher.ts'
import { matchingPlaces } from './match-places.ts'
import { emptyMemory } from './metric-memory.ts'

const TOKENS = ['WETH', 'USDC', 'WBTC']
const EXPRESSION: LabelMatcher = { label: 'token', operator: '=~', value: 'W.*' }

function stored(token: string, place: number): StoredSeries {
  return { id: String(place + 1), type: 'gauge', labels: { token } }
}

function openMemory() {
  const memory = { ...emptyMemory(), series: TOKENS.map(stored) }
  let asked = 0
  /** Gives the answer of an engine that knows these series. */
  async function places(
    known: readonly StoredSeries[],
    onAsked = (): void => undefined,
  ): Promise<readonly number[]> {
    const ask = () => {
      asked += 1
      onAsked()
      return Promise.resolve(
        known.filter(({ labels }) => labels['token']?.startsWith('W')).map(({ id }) => id),
      )
    }
    return [...(await matchingPlaces(memory, [EXPRESSION], ask))]
  }
  return { memory, places, askedSoFar: () => asked }
}

it('asks the engine once what a regular expression matches (MQ-4)', async () => {
  const { memory, places, askedSoFar } = openMemory()
  expect(await places(memory.series)).toEqual([0, 2])
  expect(await places(memory.series)).toEqual([0, 2])
  expect(askedSoFar()).toBe(1)
})

it('asks again when there were new series while the engine answered', async () => {
  const { memory, places, askedSoFar } = openMemory()
  const before = memory.series
  const later = [...before, stored('WSTETH', before.length)]
  expect(await places(before, () => (memory.series = later))).toEqual([0, 2])
  expect(await places(later)).toEqual([0, 2, 3])
  expect(askedSoFar()).toBe(2)
})

it('leaves out series that the engine knows and the memory does not yet', async () => {
  const { memory, places } = openMemory()
  expect(await places([...memory.series, stored('WSTETH', TOKENS.length)])).toEqual([0, 2])
})

it('asks the engine nothing about plain values', async () => {
  const { memory } = openMemory()
  const ask = () => Promise.reject(new Error('asked'))
  const plain = (operator: '=' | '!='): LabelMatcher => ({ label: 'token', operator, value: 'USDC' })
  expect([...(await matchingPlaces(memory, [plain('=')], ask))]).toEqual([1])
  expect([...(await matchingPlaces(memory, [plain('!=')], ask))]).toEqual([0, 2])
})
