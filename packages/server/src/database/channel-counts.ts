import type { ChannelCounts } from '../delivery/channel-counts.ts'
import type { ControlDatabase } from './database.ts'

/** Counts the channels that do not deliver, each once: a paused one does not fail, and a disabled one neither. */
export async function countChannels(db: ControlDatabase): Promise<ChannelCounts> {
  const rows = await db
    .selectFrom('webhook_lane')
    .innerJoin('webhook_lane_state', 'webhook_lane_state.lane_id', 'webhook_lane.id')
    .select(['is_paused', 'disabled_reason', 'failing_since_at'])
    .where('deleted_at', 'is', null)
    .where((eb) =>
      eb.or([eb('is_paused', '=', 1), eb('disabled_reason', 'is not', null), eb('failures', '>', 0)]),
    )
    .execute()
  const disabled = rows.filter((row) => row.disabled_reason !== null)
  const paused = rows.filter((row) => row.disabled_reason === null && row.is_paused === 1)
  const failing = rows.filter((row) => row.disabled_reason === null && row.is_paused === 0)
  const since = failing.flatMap(({ failing_since_at: at }) => (at === null ? [] : [at]))
  return {
    failing: failing.length,
    disabled: disabled.length,
    paused: paused.length,
    failingSinceAt: since.length === 0 ? null : Math.min(...since),
  }
}
