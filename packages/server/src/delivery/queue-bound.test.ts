import { expect, it } from 'vitest'
import { createQueueBound, type QueuedBytes } from './queue-bound.ts'

const MAX_BYTES = 1000

function bench() {
  let nowMs = 0
  let queued: readonly QueuedBytes[] = []
  let measurements = 0
  const bound = createQueueBound({
    measure: () => {
      measurements += 1
      return Promise.resolve(queued)
    },
    clock: { now: () => nowMs, monotonic: () => nowMs },
    maxBytes: MAX_BYTES,
  })
  return {
    admit: (projectId: number, channel: string, bytes: number) =>
      bound.admit(projectId, [
        {
          channel,
          exportName: 'e',
          chain: '1',
          blockNumber: 1,
          position: null,
          timestampMicros: 1,
          version: 1,
          data: Buffer.alloc(bytes),
        },
      ]),
    wait: (ms: number, then: readonly QueuedBytes[]) => {
      nowMs += ms
      queued = then
    },
    measurements: () => measurements,
  }
}

it('refuses exports when a quarter of what may wait waits in their channel, before anything is stored (IN-7)', async () => {
  const { admit } = bench()
  await admit(1, 'a', 200)
  await expect(admit(1, 'a', 51)).rejects.toThrow(
    'export: 200 bytes wait to be delivered in channel "a", at most 250 may',
  )
  await expect(admit(1, 'a', 51)).rejects.toMatchObject({ code: 'resource_exhausted' })
  await admit(1, 'a', 50)
})

it('refuses them when half of it waits in their project, or all of it everywhere (IN-7)', async () => {
  const { admit } = bench()
  for (const channel of ['a', 'b']) await admit(1, channel, 240)
  await expect(admit(1, 'c', 100)).rejects.toThrow(
    '480 bytes wait to be delivered in the channels of the project',
  )
  for (const channel of ['a', 'b']) await admit(2, channel, 240)
  await expect(admit(3, 'a', 100)).rejects.toThrow('960 bytes wait to be delivered in all channels')
})

it('takes what is larger than the bound when nothing waits, so that nothing is too large for ever (IN-7)', async () => {
  const { admit } = bench()
  await admit(1, 'a', 5000)
})

it('measures at most once a second, and forgets what has left since (IN-7)', async () => {
  const { admit, wait, measurements } = bench()
  await admit(1, 'a', 200)
  wait(999, [])
  await expect(admit(1, 'a', 100)).rejects.toThrow('wait')
  expect(measurements()).toBe(1)
  wait(1, [{ projectId: 1, channel: 'a', bytes: 100 }])
  await admit(1, 'a', 100)
  await expect(admit(1, 'a', 100)).rejects.toThrow('200 bytes wait')
  expect(measurements()).toBe(2)
})
