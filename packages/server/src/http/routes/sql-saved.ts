import { SqlSaveAnswer, SqlSavedQueries, SqlSaveRequest, SqlTables } from '@millrace/contract'
import { Type } from 'typebox'
import type { Analytics } from '../../analytics/analytics.ts'
import { defineRoute, type AnyRoute } from '../route.ts'
import { queryReference } from './sql-query.ts'

const PATH = '/analytics/:owner/:project/sql'

/** Saved queries, and what there is to query (SQ-8). */
export function sqlSavedRoutes({ savedQueries, tables }: Analytics): readonly AnyRoute[] {
  const save = (method: 'POST' | 'PUT'): AnyRoute =>
    defineRoute({
      method,
      path: `${PATH}/save`,
      permission: 'write',
      summary: 'Saves a statement under a name, in the place of the one that has its id or name.',
      tag: 'sql',
      body: SqlSaveRequest,
      answer: SqlSaveAnswer,
      handle: async ({ body, project }) => ({
        queryId: (await savedQueries.save(project, queryReference(body.sqlQuery))).id,
      }),
    })
  return [
    save('POST'),
    save('PUT'),
    defineRoute({
      method: 'GET',
      path: `${PATH}/queries`,
      permission: 'read',
      summary: 'The saved queries of the project.',
      tag: 'sql',
      answer: SqlSavedQueries,
      handle: async ({ project }) => ({
        queries: (await savedQueries.list(project)).map(
          ({ id, name, sql, parameters, pageSize, savedAt }) => ({
            queryId: id,
            name: name ?? '',
            sql,
            parameters,
            ...(pageSize === null ? {} : { size: pageSize }),
            savedAt: new Date(savedAt).toISOString(),
          }),
        ),
      }),
    }),
    defineRoute({
      method: 'DELETE',
      path: `${PATH}/queries/:queryId`,
      permission: 'write',
      summary: 'Forgets a saved query.',
      tag: 'sql',
      params: Type.Object({ owner: Type.String(), project: Type.String(), queryId: Type.String() }),
      answer: Type.Object({}),
      handle: async ({ params, project }) => {
        await savedQueries.remove(project, params.queryId)
        return {}
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${PATH}/tables`,
      permission: 'read',
      isPublicReadable: true,
      summary: 'The tables of the project, their kinds and columns.',
      tag: 'sql',
      query: Type.Object({
        version: Type.Optional(Type.Integer({ minimum: 0, description: 'Absent or 0 is the active one.' })),
      }),
      answer: SqlTables,
      handle: async ({ project, query }) => ({
        tables: Object.fromEntries(
          (await tables(project, query.version ?? null)).map(({ name, kind, columns }) => [
            name,
            {
              name,
              tableType: kind,
              columns: Object.fromEntries(
                columns.map((column) => [
                  column.name,
                  { name: column.name, columnType: column.wireType, clickhouseDataType: column.type },
                ]),
              ),
            },
          ]),
        ),
      }),
    }),
  ]
}
