import type { ControlTransaction } from './database.ts'
import { slicesOf } from './outbox-slices.ts'

/** What a channel has gathered besides its event ids. */
const BELONGINGS = [
  'webhook_message',
  'webhook_held_message',
  'webhook_retraction',
  'webhook_sent',
  'webhook_attempt',
  'webhook_dead_letter',
  'webhook_dead_message',
] as const

/** What also goes when nobody can ever use the channel's event ids again. */
const MEMORY = ['webhook_event_id', 'webhook_arrival', 'webhook_lane_counter', 'webhook_lane_state'] as const

/** Removes everything that waits in a channel or tells of its past. Its event ids stay taken (EV-1). */
export async function clearChannel(tx: ControlTransaction, laneId: number): Promise<void> {
  for (const table of BELONGINGS) await tx.deleteFrom(table).where('lane_id', '=', laneId).execute()
}

/** Removes the channels of a project without a trace; for when the project goes. */
export async function removeChannelsOfProject(tx: ControlTransaction, projectId: number): Promise<void> {
  await tx.deleteFrom('webhook_chain_head').where('project_id', '=', projectId).execute()
  const lanes = await tx
    .deleteFrom('webhook_lane')
    .where('project_id', '=', projectId)
    .returning('id')
    .execute()
  for (const ids of slicesOf(lanes.map(({ id }) => id))) {
    for (const table of [...BELONGINGS, ...MEMORY]) {
      await tx.deleteFrom(table).where('lane_id', 'in', ids).execute()
    }
  }
}
