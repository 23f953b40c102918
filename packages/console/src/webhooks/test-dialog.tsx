import type { AttemptResult, ChannelView } from '@millrace/contract'
import { useEffect, useState } from 'react'
import type { ProjectAddress } from '../api/project-address.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { ErrorNotice, Progress } from '../parts/notice.tsx'
import { testChannel } from './api.ts'
import { AttemptDetail } from './attempt-list.tsx'

/** Sends a sample message to the receiver and shows what was sent and what came back. */
export function TestDialog({
  address,
  channel,
  isOpen,
  onClose,
}: {
  readonly address: ProjectAddress
  readonly channel: ChannelView
  readonly isOpen: boolean
  readonly onClose: () => void
}) {
  const [result, setResult] = useState<AttemptResult | null>(null)
  const [isSending, setSending] = useState(false)
  const [error, setError] = useState<unknown>(null)
  useEffect(() => {
    if (isOpen) {
      setResult(null)
      setError(null)
    }
  }, [isOpen])
  const send = async () => {
    setSending(true)
    setError(null)
    setResult(null)
    try {
      setResult(await testChannel(address, channel.name))
    } catch (thrown) {
      setError(thrown)
    } finally {
      setSending(false)
    }
  }
  return (
    <Dialog title="Send a test" isOpen={isOpen} onClose={onClose} place="wide">
      <dl className="facts">
        <dt>Request</dt>
        <dd className="mono">POST {channel.url}</dd>
        <dt>Headers</dt>
        <dd className="mono">
          {[
            ...Object.keys(channel.headers),
            'content-type',
            'webhook-id',
            'webhook-timestamp',
            'webhook-signature',
          ].join(', ')}
        </dd>
        <dt>Body</dt>
        <dd>a JSON array of one sample message, beside the queue: it is not retried</dd>
      </dl>
      {isSending && <Progress label="Waiting for the answer" />}
      {error !== null && <ErrorNotice error={error} />}
      {result && <AttemptDetail attempt={result} />}
      <div className="row end">
        <Button onPress={onClose}>Close</Button>
        <Button look="primary" isPending={isSending} onPress={() => void send()}>
          {result ? 'Send again' : 'Send'}
        </Button>
      </div>
    </Dialog>
  )
}
