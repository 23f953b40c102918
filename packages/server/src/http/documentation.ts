import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'

/** The ways to present a key (AU-1), as OpenAPI names them: any one of them will do. */
export const KEY_SECURITY: readonly Record<string, string[]>[] = [
  { 'api-key': [] },
  { bearer: [] },
  { 'api-key-parameter': [] },
]

/** Serves the OpenAPI 3.1 document, generated from the schemas that validate requests, and a readable page (WI-6). */
export async function registerDocumentation(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Millrace',
        version: '1',
        description:
          'Metrics range queries, SQL with stable cursors, and webhooks with dead letters over on-chain data.',
      },
      components: {
        securitySchemes: {
          'api-key': { type: 'apiKey', in: 'header', name: 'api-key' },
          bearer: { type: 'http', scheme: 'bearer' },
          'api-key-parameter': { type: 'apiKey', in: 'query', name: 'api-key' },
        },
      },
      security: [...KEY_SECURITY],
    },
    refResolver: {
      buildLocalReference: (schema, _base, _fragment, index) =>
        typeof schema['$id'] === 'string' ? schema['$id'] : `schema-${index}`,
    },
  })
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: true,
    // Without TLS in front the page's own scripts would be asked for by https on every host but loopback.
    transformStaticCSP: (policy) => policy.replace(' upgrade-insecure-requests;', ''),
  })
  app.get('/openapi.json', { schema: { hide: true } }, () => app.swagger())
}
