import type { FastifyRequest } from 'fastify'

/** The key that a request presents: header `api-key`, `Authorization: Bearer …`, or query parameter `api-key` (AU-1); null if none. */
export function presentedKey(request: FastifyRequest): string | null {
  const header = request.headers['api-key']
  if (typeof header === 'string' && header !== '') return header
  const bearer = /^bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1]
  if (bearer !== undefined) return bearer
  const parameter = (request.query as Readonly<Record<string, unknown>>)['api-key']
  return typeof parameter === 'string' && parameter !== '' ? parameter : null
}
