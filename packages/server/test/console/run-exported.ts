import { execFile } from 'node:child_process'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import type { TestService } from '../support/service.ts'

const run = promisify(execFile)
/** Where the packages of the project can be imported by name. */
const PACKAGE = join(import.meta.dirname, '..', '..')

/** What a command that the console exported writes, with the key in the environment as the command expects it. */
export async function runShell(service: TestService, command: string): Promise<string> {
  const env = { ...process.env, MILLRACE_API_KEY: service.administratorKey }
  return (await run('bash', ['-c', command], { env, cwd: PACKAGE })).stdout
}

/** What a TypeScript program that the console exported writes. */
export async function runTypeScript(service: TestService, program: string): Promise<string> {
  const env = { ...process.env, MILLRACE_API_KEY: service.administratorKey }
  const flags = ['--input-type=module-typescript', '--eval', program]
  return (await run(process.execPath, flags, { env, cwd: PACKAGE })).stdout
}
