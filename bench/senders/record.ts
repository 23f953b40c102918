/**
 * Records what senders that exist already put on the wire, as data for tests: npm run senders:record -- <file>. The values are those of
 * `opentelemetry-sender.mjs` and of the target in `prometheus.ts`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { buffer } from 'node:stream/consumers'
import { freePort } from '../../packages/server/test/support/free-port.ts'
import { PACKAGES } from './opentelemetry.ts'
import { copyBelow, installPeers } from './peers.ts'
import { prometheusConfig, startTarget } from './prometheus.ts'

/** A request without its address and key. */
interface Recorded {
  readonly path: string
  readonly headers: Readonly<Record<string, unknown>>
  /** Base64, as it was sent. */
  readonly body: string
}

const [file] = process.argv.slice(2)
if (file === undefined) {
  process.stderr.write('npm run senders:record -- <file>\n')
  process.exit(2)
}

const recorded: Recorded[] = []
const server = createServer((request, response) => void record(request, response)).listen(0, '127.0.0.1')
await once(server, 'listening')
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const peers = installPeers('opentelemetry', PACKAGES)
copyBelow(peers, 'bench/senders/opentelemetry-sender.mjs', 'sender.mjs')
await once(spawn(process.execPath, ['sender.mjs', url, 'key'], { cwd: peers, stdio: 'inherit' }), 'close')

const directory = mkdtempSync(join(tmpdir(), 'millrace-prometheus-'))
const target = await startTarget(2)
writeFileSync(join(directory, 'prometheus.yml'), prometheusConfig(`${url}/write`, 'key', target.port))
const prometheus = spawn(
  'prometheus',
  [
    `--config.file=${join(directory, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(directory, 'data')}`,
    `--web.listen-address=127.0.0.1:${await freePort()}`,
    '--log.level=error',
  ],
  { stdio: ['ignore', 'ignore', 'inherit'] },
)
const closed = once(prometheus, 'close')
while (recorded.filter(({ path }) => path === '/write').length < 3) await once(server, 'recorded')
prometheus.kill('SIGTERM')
await closed
target.stop()
server.close()
rmSync(directory, { recursive: true, force: true })
writeFileSync(file, `${JSON.stringify(recorded, null, 2)}\n`)
process.stdout.write(`${recorded.length} requests\n`)
process.exit()

async function record(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = (await buffer(request)).toString('base64')
  const { 'content-type': type, 'content-encoding': encoding } = request.headers
  const headers = {
    'content-type': type,
    ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
  }
  recorded.push({ path: request.url ?? '', headers, body })
  server.emit('recorded')
  response.writeHead(200).end()
}
