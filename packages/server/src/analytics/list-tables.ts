import type { Project } from '../projects/project.ts'
import { parseColumnType, toWireType, type WireType } from './column-type.ts'
import { scopeOf } from './prepare-statement.ts'
import type { EngineTable, SqlEngine } from './sql-engine.ts'

/** A table as callers see it (SQ-8). */
export interface TableView {
  readonly name: string
  readonly kind: EngineTable['kind']
  readonly columns: readonly { readonly name: string; readonly type: string; readonly wireType: WireType }[]
}

/** The tables of a project's version, by name. */
export async function listTables(
  engine: SqlEngine,
  project: Project,
  version: number | null,
): Promise<readonly TableView[]> {
  const tables = await engine.tables(scopeOf(project, version))
  return tables.map(({ name, kind, columns }) => ({
    name,
    kind,
    columns: columns.map((column) => ({ ...column, wireType: toWireType(parseColumnType(column.type)) })),
  }))
}
