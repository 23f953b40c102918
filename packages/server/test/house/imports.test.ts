import { describe, expect, it } from 'vitest'
import { importFaults } from './import-faults.ts'
import { DOMAIN_FOLDERS, FOLDERS } from './import-table.ts'
import { parseSource, readSources } from './sources.ts'

const sources = readSources()
const faultsOf = (path: string, text: string) => importFaults(parseSource(`packages/${path}`, text))

describe('imports point inward', () => {
  it('holds every module of every package to the import table', () => {
    expect(sources.length).toBeGreaterThan(50)
    expect(sources.flatMap(importFaults)).toEqual([])
  })

  it('has no row for a folder that is gone', () => {
    const paths = sources.map(({ path }) => path)
    const isThere = (name: string) => paths.some((path) => path.startsWith(`packages/server/src/${name}`))
    expect(Object.keys(FOLDERS).filter((name) => !isThere(name))).toEqual([])
  })

  it('allows no cycle among the domain folders', () => {
    const reachable = (from: string): readonly string[] =>
      DOMAIN_FOLDERS[from as keyof typeof DOMAIN_FOLDERS].flatMap((next) => [next, ...reachable(next)])
    for (const folder of Object.keys(DOMAIN_FOLDERS)) expect(reachable(folder)).not.toContain(folder)
  })

  it('leaves the environment to config.ts', () => {
    const readers = sources.filter(({ text }) =>
      /\bprocess\.env\b|\benv\b[^}]*} from 'node:process'/.test(text),
    )
    expect(readers.map(({ path }) => path)).toEqual([
      'packages/server/src/config.ts',
      // Hands it on to the demo's process, unread.
      'packages/server/src/demo/start-demo.ts',
    ])
  })
})

describe('the import table', () => {
  it('refuses an edge in a domain folder, a type alone included', () => {
    const text = `import type { Sql } from '../clickhouse/sql.ts'`
    expect(faultsOf('server/src/metrics/plan.ts', text)).toEqual([
      'packages/server/src/metrics/plan.ts imports ../clickhouse/sql.ts: ' +
        'metrics may import platform, @millrace/contract, projects, cache',
    ])
  })

  it('refuses one edge in another, re-exported or imported at run time', () => {
    expect(faultsOf('server/src/http/a.ts', `export { b } from '../database/b.ts'`)).toHaveLength(1)
    expect(faultsOf('server/src/http/a.ts', `const b = await import('../database/b.ts')`)).toHaveLength(1)
  })

  it('refuses a library outside its home, one without a home, and input in a domain folder', () => {
    expect(faultsOf('server/src/http/a.ts', `import { Pool } from 'pg'`)).toHaveLength(1)
    expect(faultsOf('server/src/http/a.ts', `import { pad } from 'left-pad'`)).toHaveLength(1)
    expect(faultsOf('server/src/ingest/a.ts', `import { readFile } from 'node:fs/promises'`)).toHaveLength(1)
    expect(faultsOf('server/src/ingest/a.ts', `import { createHash } from 'node:crypto'`)).toEqual([])
  })

  it('refuses the server in the SDK', () => {
    expect(faultsOf('sdk/src/a.ts', `import { b } from '../../server/src/platform/b.ts'`)).toHaveLength(1)
    expect(faultsOf('sdk/src/client/a.ts', `import { b } from '../request.ts'`)).toEqual([])
  })
})
