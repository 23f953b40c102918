import type { Project } from './project.ts'

/** A project that is about to exist. */
export type NewProject = Pick<Project, 'owner' | 'name' | 'type' | 'isPublic'>

/** One upload of a project's processor (IN-4). */
export interface ProcessorVersion {
  readonly number: number
  readonly state: 'pending' | 'active'
  readonly createdAt: number
}

/** Where projects are kept. */
export interface ProjectStore {
  /** Null when the owner has a project of that name. */
  insert(project: NewProject, nowMs: number): Promise<Project | null>
  find(owner: string, name: string): Promise<Project | null>
  /** By owner and name; of one owner, or of all when null. */
  list(owner: string | null): Promise<readonly Project[]>
  /** Null when the project is gone. */
  setPublic(projectId: number, isPublic: boolean): Promise<Project | null>
  remove(projectId: number): Promise<void>
  /** Oldest first, without those that were removed. */
  versions(projectId: number): Promise<readonly ProcessorVersion[]>
  /** Makes the version after the newest that ever was: active if there is none, else pending (IN-4). */
  addVersion(projectId: number, nowMs: number): Promise<ProcessorVersion>
  /** False when there is no such version. The one that was active becomes pending. */
  activateVersion(projectId: number, version: number): Promise<boolean>
  /** Takes a version that is not active off the list for ever; its number is not used again. */
  removeVersion(projectId: number, version: number): Promise<'removed' | 'active' | 'unknown'>
  /** Makes version 1, active at once (IN-4), unless there is a version; returns the active version. */
  ensureFirstVersion(projectId: number, nowMs: number): Promise<number>
}
