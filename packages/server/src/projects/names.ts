import { invalidArgument } from '../platform/errors.ts'

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/

/** Owners that would look like the service's own pages. */
const RESERVED_OWNERS: ReadonlySet<string> = new Set([
  'admin',
  'api',
  'assets',
  'console',
  'docs',
  'healthz',
  'keys',
  'login',
  'metrics',
  'openapi.json',
  'projects',
  'readyz',
  'settings',
  'v1',
])

/** Projects that would look like the service's own pages below an owner. */
const RESERVED_PROJECTS: ReadonlySet<string> = new Set(['keys', 'new', 'settings'])

/** Refuses what cannot be the owner of a project. */
export function checkOwnerName(owner: string): void {
  checkName('owner', owner, RESERVED_OWNERS)
}

/** Refuses what cannot be the name of a project. */
export function checkProjectName(name: string): void {
  checkName('name', name, RESERVED_PROJECTS)
}

function checkName(field: string, value: string, reserved: ReadonlySet<string>): void {
  if (!NAME.test(value)) {
    throw invalidArgument(
      `${field} must be 1 to 100 letters, digits, '_', '-' or '.', the first one a letter or digit`,
    )
  }
  if (reserved.has(value.toLowerCase())) {
    throw invalidArgument(`${field} must not be one of the reserved words ${[...reserved].join(', ')}`)
  }
}
