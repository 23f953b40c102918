/**
 * Runs senders that exist already against a service, and compares what they sent with what is stored:
 * npm run senders [-- opentelemetry prometheus processors upload]. Installs them from their registries when they are not there.
 */
import process from 'node:process'
import { createApi } from '../api.ts'
import { startService } from '../service.ts'
import type { Check, Target } from './finding.ts'
import { checkOpenTelemetry } from './opentelemetry.ts'
import { checkProcessors } from './processors.ts'
import { checkPrometheus } from './prometheus.ts'
import { checkUpload } from './upload.ts'

const CHECKS: Readonly<Record<string, Check>> = {
  opentelemetry: checkOpenTelemetry,
  prometheus: checkPrometheus,
  processors: checkProcessors,
  upload: checkUpload,
}

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !(name in CHECKS))
if (unknown.length > 0) {
  process.stderr.write(`no sender ${unknown.join(', ')}; there are ${Object.keys(CHECKS).join(', ')}\n`)
  process.exit(2)
}

const { url, key, stop } = await startService()
try {
  const api = createApi(url, key)
  const target: Target = {
    url,
    key,
    createProject: async (name) => {
      await api.post('/projects', { owner: 'senders', name })
      return `senders/${name}`
    },
    sql: async (project, sql) => {
      const body = { sqlQuery: { sql, size: 100_000 }, cachePolicy: { noCache: true } }
      const answer = await api.post(`/analytics/${project}/sql/execute`, body)
      return (answer as { readonly result: { readonly rows: readonly Readonly<Record<string, unknown>>[] } })
        .result.rows
    },
    get: async (path) => (await fetch(`${url}/api/v1${path}`, { headers: { 'api-key': key } })).json(),
  }
  let differences = 0
  for (const [name, check] of Object.entries(CHECKS)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    process.stdout.write(`${name}\n`)
    for (const { what, sent, stored } of await check(target)) {
      const isSame = sent === stored
      if (!isSame) differences += 1
      process.stdout.write(
        isSame
          ? `  ✓ ${what}: ${shorten(stored)}\n`
          : `  ✗ ${what}\n    sent   ${sent}\n    stored ${stored}\n`,
      )
    }
  }
  process.stdout.write(
    differences === 0 ? 'Everything arrived as it was sent.\n' : `${differences} differ.\n`,
  )
  process.exitCode = differences === 0 ? 0 : 1
} finally {
  await stop()
}

function shorten(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text
}
