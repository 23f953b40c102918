import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import type { Check, Finding } from './finding.ts'
import { copyBelow, installPeers, runIn } from './peers.ts'

/** The newest of both versions that are in use. */
const VERSIONS = ['2.62.7', '3.4.2'] as const

/**
 * `examples/bridge`, an unmodified processor of the existing SDK, run offline by the protocol of a deployed one: its metrics, events, exports, and its
 * entities, which it reads back while it runs.
 */
export const checkProcessors: Check = async (target) => {
  const findings: Finding[] = []
  for (const version of VERSIONS) {
    const [major] = version
    const peers = installPeers(`processors-${major}`, [`@sentio/sdk@${version}`])
    const directory = copyBelow(peers, 'examples/bridge', 'example')
    mkdirSync(join(directory, 'schema'), { recursive: true })
    runIn(directory, process.execPath, ['../node_modules/@sentio/sdk/lib/store/run.js', '.', 'schema'])
    runIn(directory, 'tsc', ['-p', '.'])
    const project = await target.createProject(`processors-${major}`)
    runIn(directory, process.execPath, ['run.mjs'], {
      MILLRACE_URL: target.url,
      MILLRACE_API_KEY: target.key,
      MILLRACE_PROJECT: project,
    })
    const total = 5n + 5000n + 2n ** 200n
    const bob = '0x0000000000000000000000000000000000000B0b'
    const rows = async (statement: string) => JSON.stringify(await target.sql(project, statement))
    const find = async (what: string, sent: unknown, statement: string) =>
      findings.push({
        what: `SDK ${version}: ${what}`,
        sent: JSON.stringify(sent),
        stored: await rows(statement),
      })
    await find(
      'counter',
      [
        { kind: 'large', n: 2 },
        { kind: 'small', n: 1 },
      ],
      `select labels['kind'] as kind, count() as n from volume group by kind order by kind`,
    )
    await find(
      'events, exact',
      [{ value: '5' }, { value: '5000' }, { value: String(2n ** 200n) }],
      'select value from Transfer order by block_number, log_index',
    )
    await find(
      'entity, read and written over blocks',
      [
        {
          id: bob,
          balance: String(total),
          transfers: 3,
          senders: 3,
          lastSeen: '2023-11-14T22:33:32.000000Z',
        },
      ],
      'select id, balance, transfers, length(JSONExtractArrayRaw(assumeNotNull(senders))) as senders, lastSeen from Account',
    )
    await find(
      'lists asked while it ran',
      [{ value: 0 }, { value: 1 }, { value: 1 }],
      'select value from rich_accounts order by block_number, value',
    )
    const channels = (await target.get(`/webhook/channels/${project}`)) as {
      readonly channels: readonly { readonly name: string; readonly pendingMessages: number }[]
    }
    findings.push({
      what: `SDK ${version}: exports to the channel of exportConfigs`,
      sent: 'treasury 2',
      stored: channels.channels.map(({ name, pendingMessages }) => `${name} ${pendingMessages}`).join(),
    })
  }
  return findings
}
