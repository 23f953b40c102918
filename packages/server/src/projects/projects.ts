import type { Clock } from '../platform/clock.ts'
import { ServiceError } from '../platform/errors.ts'
import { checkOwnerName, checkProjectName } from './names.ts'
import type { Project } from './project.ts'
import type { NewProject, ProcessorVersion, ProjectStore } from './project-store.ts'
import { createShortMemory } from './short-memory.ts'

export interface ProjectsOptions {
  readonly store: ProjectStore
  readonly clock: Clock
  /** Removes what a project left in the engines, before the project itself goes; may be called again. */
  readonly eraseData: (project: Project) => Promise<void>
  /** Removes the data of a version that takes no more; may be called again. */
  readonly eraseVersion: (projectId: number, version: number) => Promise<void>
}

/** The projects of the service. */
export interface Projects {
  /** Throws `already_exists` when the owner has one of that name. */
  create(project: NewProject): Promise<Project>
  /** By address; another instance's change shows within a second. */
  find(owner: string, name: string): Promise<Project | null>
  /** One that was looked up a moment ago; null where it has to be looked up. */
  recall(owner: string, name: string): Project | null
  /** Of one owner, or all when null. */
  list(owner: string | null): Promise<readonly Project[]>
  setPublic(project: Project, isPublic: boolean): Promise<Project>
  remove(project: Project): Promise<void>
  versions(projectId: number): Promise<readonly ProcessorVersion[]>
  /** The active version; version 1 is made when there is none (IN-4). */
  ensureFirstVersion(projectId: number): Promise<number>
  /** The version after the newest: active if it is the first, else pending until it is activated (IN-4). */
  addVersion(project: Project): Promise<ProcessorVersion>
  /** From here on queries read this version by default. Throws `not_found`. */
  activateVersion(project: Project, version: number): Promise<void>
  /** Deletes a version with its data. Throws `not_found`, and `failed_precondition` for the active one. */
  removeVersion(project: Project, version: number): Promise<void>
}

/** Projects on a store, remembered for a second. */
export function createProjects({ store, clock, eraseData, eraseVersion }: ProjectsOptions): Projects {
  const memory = createShortMemory<Project>(clock)
  return {
    create: async (project) => {
      checkOwnerName(project.owner)
      checkProjectName(project.name)
      const created = await store.insert(project, clock.now())
      if (created) return created
      throw new ServiceError('already_exists', `${project.owner} has a project ${project.name} already`)
    },
    find: (owner, name) => memory.read(`${owner}/${name}`, () => store.find(owner, name)),
    recall: (owner, name) => memory.recall(`${owner}/${name}`) ?? null,
    list: (owner) => store.list(owner),
    setPublic: async (project, isPublic) => {
      const updated = await store.setPublic(project.id, isPublic)
      memory.forget()
      return updated ?? unknownProject(project.owner, project.name)
    },
    remove: async (project) => {
      await eraseData(project)
      await store.remove(project.id)
      memory.forget()
    },
    versions: (projectId) => store.versions(projectId),
    ensureFirstVersion: async (projectId) => {
      const version = await store.ensureFirstVersion(projectId, clock.now())
      memory.forget()
      return version
    },
    addVersion: async (project) => {
      const version = await store.addVersion(project.id, clock.now())
      memory.forget()
      return version
    },
    activateVersion: async (project, version) => {
      const isKnown = await store.activateVersion(project.id, version)
      memory.forget()
      if (!isKnown) throw unknownVersion(project, version)
    },
    removeVersion: async (project, version) => {
      const outcome = await store.removeVersion(project.id, version)
      if (outcome === 'unknown') throw unknownVersion(project, version)
      if (outcome === 'active') {
        throw new ServiceError(
          'failed_precondition',
          `version ${version} is the active one; activate another version before it is deleted`,
        )
      }
      await eraseVersion(project.id, version)
    },
  }
}

/** Throws `not_found` for a project's address. */
export function unknownProject(owner: string, name: string): never {
  throw new ServiceError('not_found', `project ${owner}/${name} does not exist`)
}

/** The refusal of a version that a project does not have. */
export function unknownVersion({ owner, name }: Project, version: number): ServiceError {
  return new ServiceError('not_found', `project ${owner}/${name} has no version ${version}`)
}
