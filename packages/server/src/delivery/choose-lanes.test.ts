import { expect, it } from 'vitest'
import { chooseLanes, type ReadyLane } from './choose-lanes.ts'
import { hostShare } from './host-share.ts'

const lane = (id: number, host = `host ${id}`, isFailing = false): ReadyLane => ({ id, host, isFailing })
const REQUEST = {
  owner: 'worker',
  nowMs: 0,
  leaseMs: 15_000,
  limit: 100,
  failingLimit: 100,
  hostLimit: 8,
  busyHosts: new Map<string, number>(),
  exceptLaneIds: [],
  among: null,
}
const idsOf = (lanes: readonly ReadyLane[]) => lanes.map(({ id }) => id)

it('takes those that waited longest, failing ones only up to their share (DL-9)', () => {
  const ready = [lane(1, 'a', true), lane(2), lane(3, 'b', true), lane(4), lane(5)]
  expect(idsOf(chooseLanes(ready, { ...REQUEST, limit: 3, failingLimit: 1 }))).toEqual([1, 2, 4])
})

it('takes no more of a host than its share and than is left to it, failing ones included (DL-9)', () => {
  const ready = Array.from({ length: 10 }, (_, index) => lane(index, 'one host', index < 2))
  const share = hostShare(REQUEST.hostLimit)
  expect(chooseLanes(ready, REQUEST)).toHaveLength(2 + share)
  const busyHosts = new Map([['one host', REQUEST.hostLimit - 3]])
  expect(idsOf(chooseLanes(ready, { ...REQUEST, busyHosts }))).toEqual([0, 1, 2])
  expect(chooseLanes(ready, { ...REQUEST, busyHosts: new Map([['one host', REQUEST.hostLimit]]) })).toEqual(
    [],
  )
})
