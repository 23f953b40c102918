import { connect, type Socket } from 'node:net'

/** One kept connection that sends prepared requests and only counts what comes back, so that the client costs little. */
export interface RawClient {
  /** Sends a request and resolves with the bytes of the answer's body. Rejects for a status that is not 200. */
  ask(request: Buffer): Promise<number>
  close(): void
}

/** A request as it goes over the connection. */
export function rawRequest(
  method: 'GET' | 'POST',
  path: string,
  headers: Readonly<Record<string, string>>,
  body = '',
): Buffer {
  const lines = Object.entries({
    host: '127.0.0.1',
    ...headers,
    'content-length': String(Buffer.byteLength(body)),
  })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${head}\r\n${body}`)
}

interface Waiting {
  resolve(bytes: number): void
  reject(error: Error): void
}

const HEAD_END = '\r\n\r\n'
const LAST_CHUNK = '0\r\n\r\n'
/** What comes in is looked at before the next is read, on whichever connection. */
const memory = Buffer.allocUnsafeSlow(256 * 1024)

/** Connects; answers come with their length or in chunks. Of bodies nothing but the length is looked at. */
export function createRawClient(url: string): RawClient {
  const { hostname, port } = new URL(url)
  let waiting: Waiting | null = null
  let head: Buffer = Buffer.alloc(0)
  /** Bytes of the body still to come; null before the head is whole, Infinity for chunks. */
  let left: number | null = null
  let bytes = 0
  /** The last bytes so far: packets may cut the last chunk anywhere. */
  let tail = ''

  function finish(): void {
    const done = waiting
    waiting = null
    left = null
    head = Buffer.alloc(0)
    tail = ''
    done?.resolve(bytes)
  }

  function read(data: Buffer): void {
    let body = data
    if (left === null) {
      const all = head.length === 0 ? data : Buffer.concat([head, data])
      const end = all.indexOf(HEAD_END)
      if (end < 0) {
        // A copy: the memory is read into again.
        head = Buffer.from(all)
        return
      }
      const text = all.toString('latin1', 0, end)
      if (!text.startsWith('HTTP/1.1 200')) return waiting?.reject(new Error(all.toString('utf8', 0, 500)))
      left = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? Infinity)
      body = all.subarray(end + HEAD_END.length)
      bytes = 0
    }
    bytes += body.length
    left -= body.length
    if (left === Infinity) {
      const last = body.toString('latin1', Math.max(0, body.length - LAST_CHUNK.length))
      tail = (tail + last).slice(-LAST_CHUNK.length)
    }
    if (left === 0 || tail === LAST_CHUNK) finish()
  }

  const socket: Socket = connect({
    port: Number(port),
    host: hostname,
    noDelay: true,
    onread: {
      buffer: memory,
      callback: (length) => {
        read(memory.subarray(0, length))
        return true
      },
    },
  })
  socket.on('error', (error) => waiting?.reject(error))
  return {
    ask: (request) =>
      new Promise((resolve, reject) => {
        waiting = { resolve, reject }
        socket.write(request)
      }),
    close: () => socket.destroy(),
  }
}
