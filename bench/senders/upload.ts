import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inflateRawSync } from 'node:zlib'
import type { Check } from './finding.ts'
import { installPeers, runIn } from './peers.ts'

const PROCESSOR = `import { Counter } from '@sentio/sdk'
import { ERC20Processor } from '@sentio/sdk/eth/builtin'

const transfers = Counter.register('transfers')
ERC20Processor.bind({ address: '0xdac17f958d2ee523a2206206994597c13d831ec7' }).onEventTransfer(
  async (_event, ctx) => transfers.add(ctx, 1),
)
`
const COMPILER_OPTIONS = {
  target: 'es2023',
  module: 'nodenext',
  skipLibCheck: true,
  types: [],
  rootDir: 'src',
}

/** `login` and `upload --host` of the existing command line, twice: each upload raises the version by one, and its bundle is kept. */
export const checkUpload: Check = async (target) => {
  const peers = installPeers('upload', ['@sentio/sdk@3.4.2', '@sentio/cli@2.30.6'])
  const project = await target.createProject('upload')
  const directory = join(peers, 'project')
  mkdirSync(join(directory, 'src'), { recursive: true })
  const write = (name: string, content: string) => writeFileSync(join(directory, name), content)
  const dependencies = { '@sentio/sdk': '3.4.2', '@sentio/cli': '2.30.6' }
  write('package.json', JSON.stringify({ name: 'sample', version: '1.0.0', type: 'module', dependencies }))
  write('sentio.yaml', `project: ${project}\n`)
  write('tsconfig.json', JSON.stringify({ compilerOptions: COMPILER_OPTIONS, include: ['src/**/*.ts'] }))
  write('src/processor.ts', PROCESSOR)
  // The command line keeps its login at home.
  const sentio = (...parameters: readonly string[]) =>
    runIn(directory, 'node', ['../node_modules/.bin/sentio', ...parameters], { HOME: directory })
  sentio('login', '--host', target.url, '--api-key', target.key)
  const upload = (...more: readonly string[]) =>
    sentio('upload', '-y', '--skip-deps', '--skip-gen', ...more, '--host', target.url)
  const answers = [upload(), upload('--skip-build')]
  const told = answers.map((text) => /Version:\s*(\d+)/.exec(text)?.[1] ?? 'none')
  const { versions } = (await target.get(`/projects/${project}/versions`)) as {
    readonly versions: readonly { readonly number: number; readonly state: string }[]
  }
  const answer = await fetch(`${target.url}/api/v1/projects/${project}/versions/2/bundle`, {
    headers: { 'api-key': target.key },
  })
  const bundle = Buffer.from(await answer.arrayBuffer())
  return [
    { what: 'versions that upload tells', sent: '1, 2', stored: told.join(', ') },
    {
      what: 'versions of the project',
      sent: '1 active, 2 pending',
      stored: versions.map(({ number, state }) => `${number} ${state}`).join(', '),
    },
    {
      what: 'bundle, downloaded',
      sent: hashOf(readFileSync(join(directory, 'dist', 'lib.js'))),
      stored: hashOf(firstFileOf(bundle)),
    },
  ]
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 16)
}

/** The content of the first file of a zip archive, by the directory at its end. */
function firstFileOf(zip: Buffer): Uint8Array {
  const entry = zip.indexOf(Buffer.from([0x50, 0x4b, 0x01, 0x02]))
  const size = zip.readUInt32LE(entry + 20)
  const header = zip.readUInt32LE(entry + 42)
  const start = header + 30 + zip.readUInt16LE(header + 26) + zip.readUInt16LE(header + 28)
  const content = zip.subarray(start, start + size)
  return zip.readUInt16LE(entry + 10) === 0 ? content : inflateRawSync(content)
}
