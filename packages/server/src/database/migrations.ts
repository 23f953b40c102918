import type { ControlMigration } from './migrate.ts'
import { projectsMigration } from './migrations/0001-projects.ts'
import { cacheMigration } from './migrations/0004-cache.ts'

/** Every schema step, oldest first. */
export const MIGRATIONS: readonly ControlMigration[] = [projectsMigration, cacheMigration]
