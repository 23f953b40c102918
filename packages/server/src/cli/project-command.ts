import type { ProjectView } from '@millrace/contract'
import { Command, InvalidArgumentError } from 'commander'
import { ask, withConnection, type ConnectionOptions } from './connection-options.ts'
import { printTable, printJson, printLine } from './print.ts'

/** `millrace project create|list`. */
export function projectCommand(): Command {
  const command = new Command('project').description('create and list projects')
  withConnection(
    command
      .command('create')
      .argument('<project>', 'owner/name', splitProject)
      .description('create a project')
      .option('--public', 'can be queried without a key')
      .option('--type <type>', 'processor or subgraph'),
  ).action(
    async (
      [owner, name]: readonly [string, string],
      options: ConnectionOptions & { readonly public?: true; readonly type?: string },
    ) => {
      const body = { owner, name, isPublic: options.public, type: options.type }
      const project = await ask<ProjectView>(options, 'POST', '/projects', body)
      if (options.json) printJson(project)
      else printLine(`Created project ${project.owner}/${project.name}.`)
    },
  )
  withConnection(command.command('list').description('list the projects that the key may see')).action(
    async (options: ConnectionOptions) => {
      const { projects } = await ask<{ projects: readonly ProjectView[] }>(options, 'GET', '/projects')
      if (options.json) {
        printJson(projects)
        return
      }
      const rows = projects.map(({ owner, name, type, isPublic, activeVersion }) => ({
        project: `${owner}/${name}`,
        type,
        public: isPublic,
        version: activeVersion,
      }))
      printTable(['project', 'type', 'public', 'version'], rows)
    },
  )
  return command
}

/** Owner and name of `owner/name`. */
export function splitProject(text: string): readonly [string, string] {
  const [owner, name, ...rest] = text.split('/')
  if (!owner || !name || rest.length > 0) throw new InvalidArgumentError('A project is written owner/name.')
  return [owner, name]
}

/** `owner/name` as path segments. */
export function projectSegments([owner, name]: readonly [string, string]): string {
  return `${encodeURIComponent(owner)}/${encodeURIComponent(name)}`
}
