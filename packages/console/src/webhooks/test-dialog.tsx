import type { ChannelTest, ChannelView } from '@millrace/contract'
import { useEffect, useState } from 'react'
import type { ProjectAddress } from '../api/project-address.ts'
import { Button } from '../parts/button.tsx'
import { Code } from '../parts/code.tsx'
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
  const [result, setResult] = useState<ChannelTest | null>(null)
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
      {result === null && (
        <p className="soft">
          One sample message goes to <span className="mono">{channel.url}</span> at once, signed like any
          other, past what waits. It is recorded as an attempt and not retried.
        </p>
      )}
      {isSending && <Progress label="Waiting for the answer" />}
      {error !== null && <ErrorNotice error={error} />}
      {result && (
        <>
          <h3>Request</h3>
          <Code label="request" text={requestText(result.request)} />
          <AttemptDetail attempt={result} />
        </>
      )}
      <div className="row end">
        <Button onPress={onClose}>Close</Button>
        <Button look="primary" isPending={isSending} onPress={() => void send()}>
          {result ? 'Send again' : 'Send'}
        </Button>
      </div>
    </Dialog>
  )
}

/** The request as it went over the wire. */
function requestText({ method, url, headers, body }: ChannelTest['request']): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [`${method} ${url}`, ...lines, '', body].join('\n')
}
