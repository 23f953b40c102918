import type { CacheCounts } from '../../cache/cache-counts.ts'
import type { AttemptCounts } from '../../delivery/attempt-counts.ts'
import type { ChannelCounts } from '../../delivery/channel-counts.ts'
import type { QueuedBytes } from '../../delivery/queue-bound.ts'
import type { StoredCounts } from '../../ingest/stored-counts.ts'
import type { DiskSpace } from '../../projects/storage-usage.ts'
import { counter, gauge, type Family } from './family.ts'

/** What the cache of this process did. */
export function cacheFamilies({ decisions, computations, refreshFailures }: CacheCounts): readonly Family[] {
  return [
    {
      name: 'millrace_cache_answers_total',
      help: 'Requests, by what the cache decided about them.',
      type: 'counter',
      samples: Object.entries(decisions).map(([decision, value]) => ({ labels: { decision }, value })),
    },
    counter('millrace_cache_computations_total', 'Answers that were computed.', computations),
    counter('millrace_cache_refresh_failures_total', 'Background refreshes that failed.', refreshFailures),
  ]
}

/** What was stored by this process. */
export function ingestFamilies({ records, batches }: StoredCounts): readonly Family[] {
  return [
    counter('millrace_ingest_records_total', 'Records stored.', records),
    counter('millrace_ingest_batches_total', 'Batches stored; repeated ones count once.', batches),
  ]
}

/** What the receivers answered this process. */
export function attemptFamilies({ attempts, messages }: AttemptCounts): readonly Family[] {
  return [
    {
      name: 'millrace_webhook_attempts_total',
      help: 'Calls to receivers, by what came of them.',
      type: 'counter',
      samples: Object.entries(attempts).map(([outcome, value]) => ({ labels: { outcome }, value })),
    },
    {
      name: 'millrace_webhook_messages_total',
      help: 'Messages that were acknowledged, and that became dead letters.',
      type: 'counter',
      samples: Object.entries(messages).map(([end, value]) => ({ labels: { end }, value })),
    },
  ]
}

/** The channels of all processes. */
export function channelFamilies({
  failing,
  disabled,
  paused,
  failingSinceAt,
}: ChannelCounts): readonly Family[] {
  return [
    {
      name: 'millrace_webhook_channels',
      help: 'Channels of all projects that do not deliver at present, by why (DL-12).',
      type: 'gauge',
      samples: Object.entries({ failing, disabled, paused }).map(([status, value]) => ({
        labels: { status },
        value,
      })),
    },
    gauge(
      'millrace_webhook_failing_since_seconds',
      'Unix time since when the channel fails that fails longest; 0 for none.',
      failingSinceAt === null ? 0 : failingSinceAt / 1000,
    ),
  ]
}

/** The queues of all processes. */
export function queueFamilies(queued: readonly QueuedBytes[]): readonly Family[] {
  const bytes = queued.reduce((sum, queue) => sum + queue.bytes, 0)
  return [gauge('millrace_webhook_queue_bytes', 'Bytes of messages that wait to be delivered.', bytes)]
}

/** Whether the engines answer. */
export function engineFamilies(
  engines: readonly (readonly [name: string, isUp: boolean])[],
): readonly Family[] {
  return [
    {
      name: 'millrace_engine_up',
      help: 'Whether the engine answers: 1, or 0.',
      type: 'gauge',
      samples: engines.map(([engine, isUp]) => ({ labels: { engine }, value: isUp ? 1 : 0 })),
    },
  ]
}

/** The disk of the engine of facts. */
export function diskFamilies(disk: DiskSpace): readonly Family[] {
  return [
    gauge('millrace_disk_free_bytes', 'Free space on the disk of the engine of facts.', disk.freeBytes),
    gauge('millrace_disk_total_bytes', 'Its size.', disk.totalBytes),
  ]
}
