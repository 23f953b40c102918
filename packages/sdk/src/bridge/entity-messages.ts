import type { RichStruct, RichValue } from './process-result.ts'

/** A condition of a list request. Numbers of `op`: = != > >= < <= in, not in, like, not like, has all, has any. */
export interface FilterMessage {
  readonly field?: string
  readonly op?: number | string
  readonly value?: { readonly values?: readonly RichValue[] } | undefined
}

/** A request of a processor for its entities: one of the members. The lists of a change run in parallel. */
export interface EntityRequest {
  readonly opId?: bigint | undefined
  readonly get?: { readonly entity?: string; readonly id?: string } | undefined
  readonly list?:
    | {
        readonly entity?: string
        readonly filters?: readonly FilterMessage[]
        readonly cursor?: string
        readonly pageSize?: number | undefined
      }
    | undefined
  readonly upsert?:
    | {
        readonly entity?: readonly string[]
        readonly id?: readonly string[]
        readonly data?: readonly Readonly<Record<string, unknown>>[]
        readonly entityData?: readonly RichStruct[]
      }
    | undefined
  readonly update?:
    | {
        readonly entity?: readonly string[]
        readonly id?: readonly string[]
        readonly entityData?: readonly {
          readonly fields?: Readonly<
            Record<string, { readonly value?: RichValue | undefined; readonly op?: number | string }>
          >
        }[]
      }
    | undefined
  readonly delete?: { readonly entity?: readonly string[]; readonly id?: readonly string[] } | undefined
}

/** What is answered: the entities of a get or list request, and where the next page begins. */
export interface EntityAnswer {
  readonly opId: bigint
  readonly entityList?: { readonly entities: readonly EntityMessage[] }
  readonly nextCursor?: string
  readonly error?: string
}

/** An entity with its state. */
interface EntityMessage {
  readonly entity: string
  readonly genBlockNumber: bigint
  readonly genBlockChain: string
  readonly genBlockTime: Date
  readonly data: RichStruct
}
