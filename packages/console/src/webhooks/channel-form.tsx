import type { ChannelView } from '@millrace/contract'
import { useMutation } from '@tanstack/react-query'
import { Plus, X } from 'lucide-react'
import { useState } from 'react'
import { useProject } from '../api/project.ts'
import { projectPath } from '../api/project-address.ts'
import { request } from '../api/request.ts'
import { Button, IconButton } from '../parts/button.tsx'
import { Choose, TextInput, Tick } from '../parts/field.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { updateChannel } from './api.ts'
import {
  settingsOf,
  SETTING_FIELDS,
  settingFault,
  settingsToWire,
  type SettingName,
} from './channel-settings.ts'
import { TlsFields, tlsTextsOf, tlsToWire } from './tls-fields.tsx'

/** Creates a channel, or edits all settings of one. */
export function ChannelForm({
  channel,
  others,
  onDone,
  onCancel,
}: {
  /** Absent for a new one. */
  readonly channel?: ChannelView
  /** Names of the project's channels, of which one may be told of long failures. */
  readonly others: readonly string[]
  readonly onDone: (channel: ChannelView) => void
  readonly onCancel: () => void
}) {
  const address = useProject()
  const [name, setName] = useState('')
  const [url, setUrl] = useState(channel?.url ?? '')
  const [headers, setHeaders] = useState<readonly (readonly [string, string])[]>(
    Object.entries(channel?.headers ?? {}),
  )
  const [settings, setSettings] = useState(settingsOf(channel))
  const [tls, setTls] = useState(tlsTextsOf(channel))
  const [isRetracting, setRetracting] = useState(channel?.retract ?? false)
  const [alertChannel, setAlertChannel] = useState(channel?.alertChannel ?? '')
  const [isTried, setTried] = useState(false)

  const nameFault = channel || name.trim() !== '' ? undefined : 'The name that exporters are given.'
  const urlFault = /^https?:\/\/[^\s/]+/.test(url)
    ? undefined
    : 'An address that begins with https:// or http://'
  const faults = SETTING_FIELDS.map(({ id }) => settingFault(id, settings[id]))
  const isFaulty =
    nameFault !== undefined || urlFault !== undefined || faults.some((fault) => fault !== undefined)

  const change = useMutation({
    mutationFn: () => {
      const body = {
        url,
        headers: Object.fromEntries(headers.filter(([header]) => header.trim() !== '')),
        ...settingsToWire(settings),
        tls: tlsToWire(tls),
        retract: isRetracting,
        alertChannel,
      }
      return channel
        ? updateChannel(address, channel.name, body)
        : request<ChannelView>(`/webhook/channels/${projectPath(address)}`, {
            method: 'POST',
            body: { name: name.trim(), ...body },
          })
    },
    onSuccess: onDone,
  })
  const save = () => {
    setTried(true)
    if (!isFaulty) change.mutate()
  }
  const field = (id: SettingName) => {
    const place = SETTING_FIELDS.findIndex((each) => each.id === id)
    const definition = SETTING_FIELDS[place]
    return (
      <TextInput
        key={id}
        label={definition?.label ?? id}
        hint={definition?.hint}
        value={settings[id]}
        onChange={(value) => setSettings((before) => ({ ...before, [id]: value }))}
        errorMessage={isTried ? faults[place] : undefined}
      />
    )
  }
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault()
        save()
      }}
    >
      {!channel && (
        <TextInput
          label="Name"
          value={name}
          onChange={setName}
          placeholder="alerts"
          hint={`What exporters are given: Exporter.register('large_transfer', '${name || 'alerts'}')`}
          errorMessage={isTried ? nameFault : undefined}
        />
      )}
      <TextInput
        label="Address of the receiver"
        isMono
        value={url}
        onChange={setUrl}
        placeholder="https://example.com/hook"
        errorMessage={isTried ? urlFault : undefined}
      />
      <fieldset>
        <legend>Headers sent with every call</legend>
        <div className="stack tight">
          {headers.map(([header, value], index) => (
            <div key={index} className="row">
              <div className="grow">
                <TextInput
                  label={`Name of header ${index + 1}`}
                  isLabelHidden
                  isMono
                  placeholder="authorization"
                  value={header}
                  onChange={(typed) => setHeaders(headers.with(index, [typed, value]))}
                />
              </div>
              <div className="grow">
                <TextInput
                  label={`Value of header ${index + 1}`}
                  isLabelHidden
                  isMono
                  placeholder="Bearer …"
                  value={value}
                  onChange={(typed) => setHeaders(headers.with(index, [header, typed]))}
                />
              </div>
              <IconButton
                name={`Remove header ${index + 1}`}
                onPress={() => setHeaders(headers.toSpliced(index, 1))}
              >
                <X aria-hidden />
              </IconButton>
            </div>
          ))}
          <div>
            <Button look="quiet" onPress={() => setHeaders([...headers, ['', '']])}>
              <Plus aria-hidden /> Header
            </Button>
          </div>
        </div>
      </fieldset>
      <fieldset>
        <legend>Batches and calls</legend>
        <div className="pair">
          {(['maxBatchMessages', 'maxBatchBytes', 'requestsAtOnce', 'requestsPerSecond'] as const).map(field)}
        </div>
      </fieldset>
      <fieldset>
        <legend>After a failure</legend>
        <div className="pair">
          {(['backoffInitial', 'backoffCap', 'deadLetterAge', 'deadLetterAttempts'] as const).map(field)}
        </div>
      </fieldset>
      <fieldset>
        <legend>Reorganisations and alerts</legend>
        <div className="stack tight">
          <div className="pair">
            {field('confirmations')}
            <Choose
              label="Tell of long failures"
              value={alertChannel === '' ? 'none' : alertChannel}
              choices={[
                { id: 'none', name: 'nobody' },
                ...others
                  .filter((other) => other !== channel?.name)
                  .map((other) => ({ id: other, name: other })),
              ]}
              onChange={(id) => setAlertChannel(id === 'none' ? '' : id)}
            />
          </div>
          <Tick isOn={isRetracting} onChange={setRetracting}>
            Announce delivered messages that a reorganisation removed
          </Tick>
        </div>
      </fieldset>
      <TlsFields texts={tls} hasKey={channel?.tls.hasClientKey ?? false} onChange={setTls} />
      {change.error && <ErrorNotice error={change.error} />}
      <div className="row end">
        <Button onPress={onCancel}>Cancel</Button>
        <Button look="primary" type="submit" isPending={change.isPending}>
          {channel ? 'Save changes' : 'Create channel'}
        </Button>
      </div>
    </form>
  )
}
