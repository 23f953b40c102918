import { randomBytes } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ConsoleSessions } from './console-session.ts'

export interface ConsoleOptions {
  /** Where the console was built to. */
  readonly directory: string
  readonly sessions: ConsoleSessions
}

/** Pages of the console; its router tells them apart. */
const PAGES = ['/', '/sign-in', '/keys', '/p/*']
const NONCE_PLACE = '__CSP_NONCE__'

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

const NOT_BUILT = `<!doctype html><html lang="en"><title>Millrace</title>
<h1>The console is not built</h1>
<p>The service runs, and its API answers: <a href="/docs">/docs</a>.</p>
<p>To build the console, run <code>npm run console:build</code> and load this page again. <code>npm start</code> does so by itself.</p></html>`

/** Serves the console, and lets its session cookie stand for a key in every request that presents none. */
export function registerConsole(app: FastifyInstance, { directory, sessions }: ConsoleOptions): void {
  app.addHook('onRequest', async (request) => {
    const { headers } = request
    if (headers['api-key'] !== undefined || headers.authorization !== undefined) return
    const secret = sessions.secretOf(headers)
    if (secret !== null) headers['api-key'] = secret
  })
  for (const path of PAGES) {
    app.get(path, { schema: { hide: true } }, (_request, reply) => sendPage(reply, directory))
  }
  const assets = new Map<string, Promise<Asset>>()
  app.get('/assets/:name', { schema: { hide: true } }, async (request, reply) => {
    const { name } = request.params as { readonly name: string }
    // Only what is in the directory is read: no name leads out of it.
    const names = await readdir(join(directory, 'assets')).catch((): string[] => [])
    if (!names.includes(name)) return reply.callNotFound()
    let asset = assets.get(name)
    if (asset === undefined) assets.set(name, (asset = readAsset(join(directory, 'assets', name))))
    return sendAsset(request, reply, name, await asset)
  })
}

/** A file of the console with its compressed forms. Its name holds its hash, so it never changes. */
interface Asset {
  readonly plain: Buffer
  readonly br: Buffer
  readonly gzip: Buffer
}

async function readAsset(path: string): Promise<Asset> {
  const plain = await readFile(path)
  const [br, zipped] = await Promise.all([promisify(brotliCompress)(plain), promisify(gzip)(plain)])
  return { plain, br, gzip: zipped }
}

function sendAsset(request: FastifyRequest, reply: FastifyReply, name: string, asset: Asset): FastifyReply {
  const accepted = request.headers['accept-encoding']?.toString() ?? ''
  const encoding = /\bbr\b/.test(accepted) ? 'br' : /\bgzip\b/.test(accepted) ? 'gzip' : null
  if (encoding !== null) void reply.header('content-encoding', encoding)
  return reply
    .header('content-type', MEDIA_TYPES[extname(name)] ?? 'application/octet-stream')
    .header('cache-control', 'public, max-age=31536000, immutable')
    .header('vary', 'accept-encoding')
    .header('x-content-type-options', 'nosniff')
    .send(encoding === null ? asset.plain : asset[encoding])
}

async function sendPage(reply: FastifyReply, directory: string): Promise<FastifyReply> {
  const nonce = randomBytes(16).toString('base64')
  const page = await readFile(join(directory, 'index.html'), 'utf8').catch(() => null)
  return reply
    .status(page === null ? 503 : 200)
    .header('content-type', 'text/html; charset=utf-8')
    .header('cache-control', 'no-store')
    .header('content-security-policy', contentSecurityPolicy(nonce))
    .header('x-content-type-options', 'nosniff')
    .header('referrer-policy', 'no-referrer')
    .header('x-frame-options', 'DENY')
    .send(page === null ? NOT_BUILT : page.replaceAll(NONCE_PLACE, nonce))
}

/** Everything from here and no inline script; the nonce is for style sheets that the editor and the widgets make. */
function contentSecurityPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')
}
