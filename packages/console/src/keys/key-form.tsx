import type { KeyCreated } from '@millrace/contract'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { projectsQuery } from '../api/project.ts'
import { request } from '../api/request.ts'
import { usePermissions } from '../api/session.ts'
import { Button } from '../parts/button.tsx'
import { Choose, TextInput, Tick } from '../parts/field.tsx'
import { ErrorNotice } from '../parts/notice.tsx'

const PERMISSIONS = [
  ['read', 'queries, and pulls dead letters'],
  ['write', 'sends data'],
  ['admin', 'manages channels, keys and settings'],
] as const
const WHOLE = '*'

/** Makes a key. */
export function KeyForm({
  onDone,
  onCancel,
}: {
  readonly onDone: (created: KeyCreated) => void
  readonly onCancel: () => void
}) {
  const { owner } = usePermissions()
  const { data: projects = [] } = useQuery(projectsQuery)
  const [name, setName] = useState('')
  const [permissions, setPermissions] = useState<ReadonlySet<string>>(new Set(['read']))
  const [scope, setScope] = useState(WHOLE)
  const [day, setDay] = useState('')
  const [isTried, setTried] = useState(false)
  const owners = [...new Set(projects.map((project) => project.owner))]
  const choices = [
    { id: WHOLE, name: owner === null ? 'The whole service' : `All projects of ${owner}` },
    ...(owner === null ? owners.map((each) => ({ id: `${each}/`, name: `All projects of ${each}` })) : []),
    ...projects.map((each) => ({ id: `${each.owner}/${each.name}`, name: `${each.owner}/${each.name}` })),
  ]
  const creation = useMutation({
    mutationFn: () => {
      const [scopeOwner = '', project = ''] = scope.split('/')
      return request<KeyCreated>('/keys', {
        method: 'POST',
        body: {
          name: name.trim(),
          permissions: [...permissions],
          ...(scope === WHOLE ? {} : { owner: scopeOwner }),
          ...(project === '' ? {} : { projects: [scope] }),
          ...(day === '' ? {} : { expiresAt: new Date(`${day}T23:59:59`).toISOString() }),
        },
      })
    },
    onSuccess: onDone,
  })
  const create = () => {
    setTried(true)
    if (name.trim() !== '' && permissions.size > 0) creation.mutate()
  }
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault()
        create()
      }}
    >
      <TextInput
        label="Name"
        value={name}
        onChange={setName}
        placeholder="indexer"
        hint="What uses it, so that you know it later."
        errorMessage={isTried && name.trim() === '' ? 'A name is needed' : undefined}
      />
      <fieldset>
        <legend>Permissions</legend>
        <div className="stack tight">
          {PERMISSIONS.map(([id, meaning]) => (
            <Tick
              key={id}
              isOn={permissions.has(id)}
              onChange={() => setPermissions((before) => new Set(before).symmetricDifference(new Set([id])))}
            >
              <strong>{id}</strong> <span className="soft">{meaning}</span>
            </Tick>
          ))}
          {isTried && permissions.size === 0 && <p className="notice bad">Choose one or more.</p>}
        </div>
      </fieldset>
      <Choose label="In" value={scope} choices={choices} onChange={setScope} />
      <TextInput label="Ends after the day (empty: never)" type="date" value={day} onChange={setDay} />
      {creation.error && <ErrorNotice error={creation.error} />}
      <div className="row end">
        <Button onPress={onCancel}>Cancel</Button>
        <Button look="primary" type="submit" isPending={creation.isPending}>
          Create key
        </Button>
      </div>
    </form>
  )
}
