import process from 'node:process'
import { expect, it } from 'vitest'
import { createRandom } from '../delivery/chaos/create-random.ts'
import { runKills } from './kill-run.ts'

/** `npm run soak:ingest` kills a hundred times. */
const KILLS = 3

it.runIf(process.platform === 'linux')(
  'has every acknowledged batch exactly once and no other in part, however often service and engine are killed (IN-2)',
  async () => {
    const report = await runKills({ kills: KILLS, random: createRandom(2) })
    expect({ lost: report.lost, torn: report.torn, unexpected: report.unexpected }).toEqual({
      lost: [],
      torn: [],
      unexpected: [],
    })
    expect(report.kills.service).toBeGreaterThan(1)
    expect(report.kills.engine).toBeGreaterThan(0)
    expect(report.acknowledged).toBeGreaterThan(report.sent / 2)
  },
  150_000,
)
