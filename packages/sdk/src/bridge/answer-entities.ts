import type { Context } from '../processor/block-context.ts'
import type { EntityFilter } from '../processor/entity-filter.ts'
import { changeEntities } from './change-entities.ts'
import type { EntityAnswer, EntityRequest, FilterMessage } from './entity-messages.ts'
import type { EntitySchema } from './entity-schema.ts'
import { valueOf } from './rich-value.ts'
import { richStructOf } from './to-rich-value.ts'

const OPERATORS = [
  ['EQ', '='],
  ['NE', '!='],
  ['GT', '>'],
  ['GE', '>='],
  ['LT', '<'],
  ['LE', '<='],
  ['IN', 'in'],
  ['NOT_IN', 'not in'],
  ['LIKE', 'like'],
  ['NOT_LIKE', 'not like'],
  ['HAS_ALL', 'has all'],
  ['HAS_ANY', 'has any'],
] as const
const TAKES_LIST: ReadonlySet<string> = new Set(['in', 'not in', 'has all', 'has any'])
const PAGE = 100

/** Does what a running processor asks of its entities, and answers it as the runtime expects. */
export async function answerEntities(
  context: Context,
  request: EntityRequest,
  schema: EntitySchema,
): Promise<EntityAnswer> {
  const opId = request.opId ?? 0n
  const { get, list } = request
  const answer = (entity: string, rows: readonly { readonly id: string }[]) => ({
    opId,
    entityList: {
      entities: rows.map((row) => ({
        entity,
        genBlockNumber: BigInt(context.block.number),
        genBlockChain: context.block.chain,
        genBlockTime: context.block.time,
        data: richStructOf(row, schema.get(entity)),
      })),
    },
  })
  if (get) {
    const { entity = '', id = '' } = get
    const row = id === '' ? undefined : await context.store.get(entity, id)
    return answer(entity, row ? [row] : [])
  }
  if (list) {
    const { entity = '', filters = [], cursor = '', pageSize = 0 } = list
    const conditions = filters.map(filterOf)
    // A page goes on behind the last id of the one before.
    if (cursor !== '') conditions.push({ field: 'id', op: '>', value: cursor })
    const limit = pageSize > 0 ? pageSize : PAGE
    const rows = await context.store.list(entity, conditions, { limit })
    const last = rows.length === limit ? rows.at(-1)?.id : undefined
    return { ...answer(entity, rows), ...(last === undefined ? {} : { nextCursor: last }) }
  }
  await changeEntities(context, request, schema)
  return { opId }
}

function filterOf({ field = '', op: number = 0, value }: FilterMessage): EntityFilter {
  const [, op] = OPERATORS.find(([name], index) => name === number || index === number) ?? []
  if (op === undefined) throw new TypeError(`operator ${number} of a filter is not known`)
  const values = (value?.values ?? []).map(valueOf)
  return { field, op, value: TAKES_LIST.has(op) ? values : (values[0] ?? null) }
}
