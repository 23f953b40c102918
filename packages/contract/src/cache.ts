import { Type } from 'typebox'

/** What a caller asks of the cache (interface 2.4, CA-2, CA-3); a member of both query requests. */
export const CachePolicyRequest = Type.Object(
  {
    cacheTtlSecs: Type.Optional(
      Type.Number({ minimum: 0, description: 'An older answer is not used. Default 15 days.' }),
    ),
    cacheRefreshTtlSecs: Type.Optional(
      Type.Number({
        minimum: 0,
        description: 'An older answer is used and renewed in the background. Default 60 seconds.',
      }),
    ),
    noCache: Type.Optional(
      Type.Boolean({ description: 'Neither read, nor stored, nor renewed. Not together with forceRefresh.' }),
    ),
    forceRefresh: Type.Optional(Type.Boolean({ description: 'Computed now, and stored.' })),
  },
  { description: 'Also accepted in snake_case.' },
)
export type CachePolicyRequest = Type.Static<typeof CachePolicyRequest>
