import { COMPUTING_MODULES, DOMAIN_FOLDERS, FOLDERS, LIBRARY_HOMES } from './import-table.ts'
import { resolveImport, type Source } from './sources.ts'

/** Everything that a module imports against the import table, one sentence each. */
export function importFaults(source: Source): readonly string[] {
  const home = homeOf(source.path)
  return source.imports.flatMap((request) => {
    const reason = refusal(source, home, request)
    return reason === null ? [] : [`${source.path} imports ${request}: ${reason}`]
  })
}

/** The folder of the server, or the package, that a module belongs to: `metrics`, `compose.ts`, `@millrace/sdk`. */
export function homeOf(path: string): string {
  const [, packageName, , first = ''] = path.split('/')
  return packageName === 'server' ? first : `@millrace/${packageName}`
}

function refusal(source: Source, home: string, request: string): string | null {
  if (request.startsWith('.')) return refuseNeighbour(home, homeOf(resolveImport(source, request)))
  if (request.startsWith('@millrace/')) return refuseNeighbour(home, request)
  if (request.startsWith('node:') && LIBRARY_HOMES[request] === undefined) {
    const isComputing = COMPUTING_MODULES.includes(request.split('/')[0] ?? '')
    return home in DOMAIN_FOLDERS && !isComputing ? 'a domain folder does no input or output' : null
  }
  return refuseLibrary(home, request)
}

function refuseNeighbour(home: string, neighbour: string): string | null {
  if (home === neighbour) return null
  if (home === '@millrace/contract') return 'the contract stands alone'
  if (home === '@millrace/console')
    return neighbour === '@millrace/contract' ? null : 'the console knows the contract only'
  if (home === '@millrace/sdk') return 'the SDK stands alone'
  const allowed = FOLDERS[home]
  if (allowed === undefined) return `${home} has no row in the import table`
  if (allowed.includes('*') || allowed.includes(neighbour)) return null
  return `${home} may import ${allowed.join(', ')}`
}

function refuseLibrary(home: string, request: string): string | null {
  // A program of the browser: its libraries are those of its own package.json.
  if (home === '@millrace/console') return null
  const parts = request.split('/')
  const name = request.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? '')
  const homes = LIBRARY_HOMES[name]
  if (homes === undefined) return `${name} has no home in the import table`
  return homes.includes(home) ? null : `the home of ${name} is ${homes.join(', ')}`
}
