import { globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { parseSync } from 'oxc-parser'

/** Root of the repository. */
export const ROOT = join(import.meta.dirname, '..', '..', '..', '..')

/** A module of a package, as its syntax tree tells. */
export interface Source {
  /** From the root of the repository, with `/`. */
  readonly path: string
  readonly text: string
  /** What it imports or re-exports, types included, as written. */
  readonly imports: readonly string[]
  /** Names that it exports. */
  readonly exports: readonly string[]
}

/** Every module under the `src` of a package, tests left out. */
export function readSources(): readonly Source[] {
  return globSync('packages/*/src/**/*.ts', { cwd: ROOT })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !/\.(test|conformance)\.ts$/.test(path))
    .toSorted()
    .map((path) => parseSource(path, readFileSync(join(ROOT, path), 'utf8')))
}

/** Reads one module. */
export function parseSource(path: string, text: string): Source {
  const { module } = parseSync(path, text)
  const exported = module.staticExports.flatMap(({ entries }) => entries)
  return {
    path,
    text,
    imports: [
      ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
      ...exported.flatMap(({ moduleRequest }) => moduleRequest?.value ?? []),
      ...module.dynamicImports.map(({ moduleRequest: { start, end } }) => text.slice(start + 1, end - 1)),
    ],
    exports: exported.flatMap(({ exportName }) => exportName.name ?? []),
  }
}

/** The path of the module that a relative import names, from the root of the repository. */
export function resolveImport(from: Source, request: string): string {
  return posix.join(posix.dirname(from.path), request)
}
