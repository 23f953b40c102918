import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(import.meta.dirname, 'bundle-'))
})
afterAll(() => rm(directory, { recursive: true }))

/** What a bundler makes of a program that imports `names` of the package. */
async function bundle(names: string): Promise<string> {
  const entry = join(directory, `${names.replace(/\W+/g, '-')}.ts`)
  await writeFile(entry, `export { ${names} } from '../../src/index.ts'\n`)
  const result = await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      minify: true,
      target: 'es2023',
      lib: { entry, formats: ['es'] },
      rolldownOptions: { external: /^node:/ },
    },
  })
  const [output] = Array.isArray(result) ? result : [result]
  if (!output || !('output' in output)) throw new Error('nothing was bundled')
  return output.output.map((chunk) => ('code' in chunk ? chunk.code : '')).join('\n')
}

describe('a program that imports a part of the SDK', () => {
  it('bundles instruments to less than a kilobyte', async () => {
    const code = await bundle('Counter, Exporter')
    expect(code).toContain('register')
    expect(code.length).toBeLessThan(1024)
    expect(code).not.toMatch(/node:|fetch/)
  })

  it('bundles the client without anything of Node', async () => {
    const code = await bundle('createClient')
    expect(code).toContain('/sql/execute')
    expect(code.length).toBeLessThan(5 * 1024)
    expect(code).not.toMatch(/node:|gunzip|webhook-signature|ingest/)
  })

  it('bundles a processor without the bridge, the spool and the webhooks', async () => {
    const code = await bundle('createProcessor')
    expect(code).toContain('/rollback')
    expect(code.length).toBeLessThan(20 * 1024)
    expect(code).not.toMatch(/node:fs|webhook-signature|exportConfigs/)
    expect(await bundle('createProcessor, createBridge')).toContain('exportConfigs')
  })
})
