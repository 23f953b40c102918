import type { ChannelView } from '@millrace/contract'
import { Badge } from '../parts/page.tsx'

const LOOKS = {
  active: 'good',
  failing: 'bad',
  disabled: 'bad',
  paused: 'warn',
  unconfigured: 'warn',
} as const satisfies Record<ChannelView['status'], string>

/** The state of a channel. */
export function ChannelBadge({ status }: { readonly status: ChannelView['status'] }) {
  return <Badge look={LOOKS[status]}>{status}</Badge>
}
