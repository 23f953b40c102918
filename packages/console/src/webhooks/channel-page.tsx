import type { ChannelView } from '@millrace/contract'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { Pause, Pencil, Play, RefreshCw, Send, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components'
import { channelsQuery } from '../api/project.ts'
import { Button } from '../parts/button.tsx'
import { Confirm, Dialog } from '../parts/dialog.tsx'
import { ago, counted, localInstant, wholeNumber } from '../parts/format.ts'
import { ErrorNotice, Notice, Progress, Warnings } from '../parts/notice.tsx'
import { Page, Stat } from '../parts/page.tsx'
import { channelQuery, deleteChannel, rotateSecret, setPaused } from './api.ts'
import { AttemptList } from './attempt-list.tsx'
import { ChannelBadge } from './channel-badge.tsx'
import { ChannelForm } from './channel-form.tsx'
import { ChannelFacts } from './channel-facts.tsx'
import { LetterList } from './letter-list.tsx'
import { SecretDialog, VERIFY_LINES } from './secret-dialog.tsx'
import { TestDialog } from './test-dialog.tsx'

const OVERLAP_SECONDS = 86_400

/** One channel: its lane, its attempts, its dead letters, its settings. */
export function ChannelPage() {
  const {
    owner,
    project,
    channel: name,
  } = useParams({ from: '/signed-in/p/$owner/$project/webhooks/$channel' })
  const address = { owner, project }
  const client = useQueryClient()
  const navigate = useNavigate()
  const { data: channel, error } = useQuery(channelQuery(address, name))
  const { data: others } = useQuery(channelsQuery(address))
  const [dialog, setDialog] = useState<'none' | 'edit' | 'test' | 'rotate' | 'delete'>('none')
  const [secret, setSecret] = useState<string | null>(null)
  const [failure, setFailure] = useState<unknown>(null)
  const [warnings, setWarnings] = useState<readonly string[]>()
  const close = () => setDialog('none')
  const take = (changed: ChannelView) => {
    setFailure(null)
    setWarnings(changed.warnings)
    client.setQueryData(channelQuery(address, name).queryKey, changed)
    setSecret(changed.secret ?? null)
  }
  const pause = (isPaused: boolean) => {
    setPaused(address, name, isPaused).then(take, setFailure)
  }
  if (!channel) {
    return (
      <Page
        title={name}
        lead={
          <Link to="/p/$owner/$project/webhooks" params={address}>
            Webhooks
          </Link>
        }
      >
        {error ? <ErrorNotice error={error} /> : <Progress label="Loading the channel" />}
      </Page>
    )
  }
  return (
    <Page
      title={name}
      lead={
        <>
          <Link to="/p/$owner/$project/webhooks" params={address}>
            Webhooks
          </Link>{' '}
          · <span className="mono">{channel.url ?? 'no address yet'}</span>
        </>
      }
      actions={
        <>
          {channel.status === 'failing' && (
            <Button onPress={() => pause(false)}>
              <Play aria-hidden /> Try now
            </Button>
          )}
          {channel.paused || channel.status === 'disabled' ? (
            <Button onPress={() => pause(false)}>
              <Play aria-hidden /> Resume
            </Button>
          ) : (
            <Button onPress={() => pause(true)}>
              <Pause aria-hidden /> Pause
            </Button>
          )}
          <Button isDisabled={channel.url === null} onPress={() => setDialog('test')}>
            <Send aria-hidden /> Send a test
          </Button>
          <Button onPress={() => setDialog('edit')}>
            <Pencil aria-hidden /> Edit
          </Button>
          <Button onPress={() => setDialog('rotate')}>
            <RefreshCw aria-hidden /> Rotate secret
          </Button>
          <Button look="danger" onPress={() => setDialog('delete')}>
            <Trash2 aria-hidden /> Delete
          </Button>
        </>
      }
    >
      {(error ?? failure) !== null && <ErrorNotice error={error ?? failure} />}
      <Warnings warnings={warnings} />
      <Lane channel={channel} />
      <Tabs className="tabs">
        <TabList aria-label="Of the channel">
          <Tab id="attempts" className="tab">
            Attempts
          </Tab>
          <Tab id="letters" className="tab">
            Dead letters
          </Tab>
          <Tab id="settings" className="tab">
            Settings
          </Tab>
        </TabList>
        <TabPanel id="attempts" className="tab-panel">
          <AttemptList address={address} channel={name} />
        </TabPanel>
        <TabPanel id="letters" className="tab-panel">
          <LetterList address={address} channel={name} />
        </TabPanel>
        <TabPanel id="settings" className="tab-panel">
          <ChannelFacts channel={channel} />
        </TabPanel>
      </Tabs>
      <Dialog title={`Edit ${name}`} isOpen={dialog === 'edit'} onClose={close} place="side">
        <ChannelForm
          channel={channel}
          others={others?.map((each) => each.name) ?? []}
          onCancel={close}
          onDone={(changed) => {
            take(changed)
            close()
          }}
        />
      </Dialog>
      <TestDialog address={address} channel={channel} isOpen={dialog === 'test'} onClose={close} />
      <Confirm
        title="Rotate the signing secret?"
        isOpen={dialog === 'rotate'}
        onClose={close}
        action="Rotate secret"
        onConfirm={async () => take(await rotateSecret(address, name, OVERLAP_SECONDS))}
      >
        <p>Calls are signed with both secrets for 24 hours; after that, only with the new one.</p>
        {channel.previousSecretUntil !== null && (
          <Notice look="warn">
            The secret before the present one, which was to sign until{' '}
            {localInstant(channel.previousSecretUntil)}, ends at once: at most two sign.
          </Notice>
        )}
      </Confirm>
      <Confirm
        title={`Delete ${name}?`}
        isOpen={dialog === 'delete'}
        onClose={close}
        action="Delete channel"
        onConfirm={async () => {
          await deleteChannel(address, name)
          await client.invalidateQueries({ queryKey: ['channels'] })
          await navigate({ to: '/p/$owner/$project/webhooks', params: address })
        }}
      >
        <p>
          {counted(channel.pendingMessages, 'waiting message')}, its dead letters and its attempts go with it.
          This cannot be undone.
        </p>
      </Confirm>
      <SecretDialog
        title="New signing secret"
        secret={secret}
        use={VERIFY_LINES}
        onClose={() => setSecret(null)}
      />
    </Page>
  )
}

function Lane({ channel }: { readonly channel: ChannelView }) {
  const next = nextAttempt(channel)
  return (
    <>
      {channel.status === 'unconfigured' && (
        <Notice look="warn">
          Exports have named this channel, and their messages wait. Give it an address with Edit, and they go
          out.
        </Notice>
      )}
      {channel.disabledReason !== null && (
        <Notice look="warn">
          Disabled: {channel.disabledReason}. Resume it, or give it another address with Edit, to start again.
        </Notice>
      )}
      <dl className="stats">
        <Stat
          name="State"
          note={
            channel.failingSince === null
              ? 'no failure since the last success'
              : `failing since ${localInstant(channel.failingSince)}`
          }
        >
          <ChannelBadge status={channel.status} />
        </Stat>
        <Stat
          name="Waiting"
          note={
            channel.oldestPendingAt === null
              ? 'nothing to send'
              : `the oldest came ${ago(channel.oldestPendingAt)}`
          }
        >
          {wholeNumber(channel.pendingMessages)}
        </Stat>
        <Stat name="Success rate" note="of the newest 100 attempts">
          {channel.successRate === null ? '–' : `${Math.round(channel.successRate * 100)} %`}
        </Stat>
        <Stat name="Next attempt" note={next.reason}>
          {next.when}
        </Stat>
        {channel.heldMessages > 0 && (
          <Stat name="Held" note={`until ${channel.confirmations} blocks deep`}>
            {wholeNumber(channel.heldMessages)}
          </Stat>
        )}
      </dl>
    </>
  )
}

/** When a channel is tried again, and why then. */
function nextAttempt({ status, pendingMessages, nextAttemptAt, lastError, successRate }: ChannelView) {
  if (status === 'unconfigured') return { when: '–', reason: 'when it has an address' }
  if (status === 'paused' || status === 'disabled') return { when: '–', reason: 'when it is resumed' }
  const last = successRate === null ? 'nothing was sent yet' : 'the last one succeeded'
  if (pendingMessages === 0) return { when: '–', reason: lastError ?? last }
  const isLater = nextAttemptAt !== null && Date.parse(nextAttemptAt) > Date.now()
  return { when: isLater ? ago(nextAttemptAt) : 'now', reason: lastError ?? last }
}
