import type { ControlMigration } from './migrate.ts'

/** Every schema step, oldest first. */
export const MIGRATIONS: readonly ControlMigration[] = []
