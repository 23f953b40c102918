import type { QueryReference } from '../../analytics/saved-query.ts'

interface WireQuery {
  readonly sql?: string
  readonly name?: string
  readonly queryId?: string
  readonly size?: number
  readonly parameters?: Readonly<Record<string, unknown>>
}

/** The statement, or saved query, that a body names. */
export function queryReference(query: WireQuery | undefined): QueryReference {
  return {
    sql: given(query?.sql),
    name: given(query?.name),
    queryId: given(query?.queryId),
    pageSize: query?.size ?? null,
    parameters: query?.parameters ?? {},
  }
}

/** Clients generated from protobuf send an empty text for an absent one. */
export function given(text: string | undefined): string | null {
  return text === undefined || text === '' ? null : text
}
