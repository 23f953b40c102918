import type { KeyCreated, KeyView } from '@millrace/contract'
import { Command, Option } from 'commander'
import { ask, collect, withConnection, type ConnectionOptions } from './connection-options.ts'
import { printTable, printJson, printLine } from './print.ts'

interface CreateOptions extends ConnectionOptions {
  readonly permission: readonly string[]
  readonly project?: readonly string[]
  readonly owner?: string
  readonly expires?: string
}

/** `millrace key create|list|revoke`. */
export function keyCommand(): Command {
  const command = new Command('key').description('create, list and revoke API keys')
  withConnection(
    command
      .command('create')
      .argument('<name>', 'what the key is for')
      .description('create a key; its secret is printed once')
      .addOption(
        new Option('--permission <permission>', 'read, write or admin; repeatable')
          .argParser(collect)
          .makeOptionMandatory(),
      )
      .option('--project <owner/name>', 'limit the key to a project; repeatable', collect)
      .option('--owner <owner>', 'owner of the key; by default that of its projects')
      .option('--expires <instant>', 'RFC 3339, e.g. 2030-01-01T00:00:00Z'),
  ).action(async (name: string, options: CreateOptions) => {
    const created = await ask<KeyCreated>(options, 'POST', '/keys', {
      name,
      owner: options.owner ?? options.project?.[0]?.split('/')[0],
      permissions: options.permission,
      projects: options.project,
      expiresAt: options.expires,
    })
    if (options.json) printJson(created)
    else printLine(`${created.secret}\nKeep it: it is not shown again. Its id is ${created.key.id}.`)
  })
  withConnection(command.command('list').description('list keys, without their secrets')).action(
    async (options: ConnectionOptions) => {
      const { keys } = await ask<{ keys: readonly KeyView[] }>(options, 'GET', '/keys')
      if (options.json) {
        printJson(keys)
        return
      }
      const rows = keys.map((key) => ({
        ...key,
        owner: key.owner ?? '(all)',
        permissions: key.permissions.join(' '),
        projects: key.projects?.join(' ') ?? '(all)',
      }))
      printTable(['id', 'name', 'owner', 'permissions', 'projects', 'lastUsedAt', 'revokedAt'], rows)
    },
  )
  withConnection(
    command.command('revoke').argument('<id>', 'see `key list`').description('revoke a key at once'),
  ).action(async (id: string, options: ConnectionOptions) => {
    await ask(options, 'DELETE', `/keys/${encodeURIComponent(id)}`)
    if (!options.json) printLine(`Revoked key ${id}.`)
  })
  return command
}
