import type { ChannelView } from '@millrace/contract'
import { byteSize, localInstant, wholeNumber } from '../parts/format.ts'
import { Card } from '../parts/page.tsx'
import { timeText } from './channel-settings.ts'

/** The settings of a channel, to read. */
export function ChannelFacts({ channel }: { readonly channel: ChannelView }) {
  const headers = Object.entries(channel.headers)
  const facts: readonly (readonly [string, string])[] = [
    ['Headers', headers.length === 0 ? 'none' : headers.map(([name]) => name).join(', ')],
    ['TLS', tlsFact(channel)],
    ['Messages per call', `${channel.maxBatchMessages}, at most ${byteSize(channel.maxBatchBytes)}`],
    ['Calls at once', atOnceFact(channel)],
    ['Calls a second', channel.requestsPerSecond === 0 ? 'no limit' : String(channel.requestsPerSecond)],
    [
      'Wait after a failure',
      `${timeText(channel.backoff.initialMs)}, doubled up to ${timeText(channel.backoff.capMs)}`,
    ],
    [
      'Dead letter',
      `older than ${timeText(channel.deadLetter.ageMs)} and ${wholeNumber(channel.deadLetter.attempts)} failed attempts`,
    ],
    ['Confirmations', channel.confirmations === 0 ? 'none: sent at once' : `${channel.confirmations} blocks`],
    ['Retractions', channel.retract ? 'announced' : 'not announced'],
    ['Long failures', channel.alertChannel === null ? 'told to nobody' : `told to ${channel.alertChannel}`],
    [
      'Former secret',
      channel.previousSecretUntil === null
        ? 'none in use'
        : `signs as well until ${localInstant(channel.previousSecretUntil)}`,
    ],
    ['Created', localInstant(channel.createdAt)],
  ]
  return (
    <Card>
      <dl className="facts">
        {facts.map(([name, value]) => (
          <div key={name} className="fact">
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Card>
  )
}

function atOnceFact({ requestsAtOnce, requestsPerSecond }: ChannelView): string {
  if (requestsAtOnce === 1) return '1, in order'
  if (requestsPerSecond > 0) return `1, because it has a rate; ${requestsAtOnce} without`
  return `up to ${requestsAtOnce}, in no order among them`
}

function tlsFact({ tls }: ChannelView): string {
  const parts = [
    tls.certificateAuthority === null ? 'public authorities' : 'public authorities and one of its own',
    ...(tls.clientCertificate === null ? [] : ['introduces itself with a client certificate']),
  ]
  return parts.join(', ')
}
