/** Address of a project, as in the paths of the API. */
export interface ProjectAddress {
  readonly owner: string
  readonly project: string
}

/** `owner/project` as it stands in a path. */
export function projectPath({ owner, project }: ProjectAddress): string {
  return `${encodeURIComponent(owner)}/${encodeURIComponent(project)}`
}
