/** Answers every request with the same bytes, as many as it is told: what Node's own server makes possible. */
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import process from 'node:process'

const body = randomBytes(Number(process.argv[2]))
const server = createServer((request, response) => {
  request.resume().once('end', () => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.byteLength })
    response.end(body)
  })
})
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
