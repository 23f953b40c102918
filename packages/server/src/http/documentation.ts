import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'

/** The ways to present a key (AU-1), as OpenAPI names them: any one of them will do. */
export const KEY_SECURITY: readonly Record<string, string[]>[] = [
  { 'api-key': [] },
  { bearer: [] },
  { 'api-key-parameter': [] },
]

/** The mark of the project, as the console has it too: the page of the API looks like a part of the same service. */
const MARK =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" width="32" height="32"><rect width="32" height="32" rx="8" fill="#0f766e"/><path d="M6 13c3.4 0 3.4-3 6.7-3s3.3 3 6.6 3 3.4-3 6.7-3M6 18.5c3.4 0 3.4-3 6.7-3s3.3 3 6.6 3 3.4-3 6.7-3M6 24c3.4 0 3.4-3 6.7-3s3.3 3 6.6 3 3.4-3 6.7-3" fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round"/></svg>'

/** The colours of the project on the page of the API, without the field for the address of another document. */
const STYLE = `.swagger-ui .topbar { background: #07534d; padding: 8px 0 }
.swagger-ui .topbar .download-url-wrapper { display: none }
.swagger-ui .topbar-wrapper { justify-content: space-between }
.swagger-ui .info { margin: 28px 0 }
.swagger-ui .scheme-container { padding: 14px 0 }
.swagger-ui .btn.authorize { border-color: #0b6b64; color: #0b6b64 }
.swagger-ui .btn.authorize svg { fill: #0b6b64 }
html.dark-mode .swagger-ui .btn.authorize { border-color: #4bd3c3; color: #4bd3c3 }
html.dark-mode .swagger-ui .btn.authorize svg { fill: #4bd3c3 }
`

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
    logo: { type: 'image/svg+xml', content: MARK, href: '/', target: '_self' },
    theme: {
      title: 'API of Millrace',
      css: [{ filename: 'millrace.css', content: STYLE }],
      favicon: [{ filename: 'mark.svg', rel: 'icon', type: 'image/svg+xml', sizes: 'any', content: MARK }],
    },
    // Without TLS in front the page's own scripts would be asked for by https on every host but loopback.
    transformStaticCSP: (policy) => policy.replace(' upgrade-insecure-requests;', ''),
  })
  app.get('/openapi.json', { schema: { hide: true } }, () => app.swagger())
}
