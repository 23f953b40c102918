import type { ProjectView } from '@millrace/contract'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { request } from '../api/request.ts'
import { usePermissions } from '../api/session.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { TextInput, Tick } from '../parts/field.tsx'
import { ErrorNotice } from '../parts/notice.tsx'

const NAME = /^[A-Za-z0-9][\w.-]{0,99}$/
const RULE = 'Letters, digits, _ - and . are allowed, beginning with a letter or digit.'

/** Creates a project. */
export function CreateProject({
  isOpen,
  onClose,
  onCreated,
}: {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly onCreated: () => void
}) {
  const { owner: ownOwner } = usePermissions()
  const [owner, setOwner] = useState(ownOwner ?? '')
  const [name, setName] = useState('')
  const [isPublic, setPublic] = useState(false)
  const [isTried, setTried] = useState(false)
  const creation = useMutation({
    mutationFn: () => request<ProjectView>('/projects', { method: 'POST', body: { owner, name, isPublic } }),
    onSuccess: () => {
      onCreated()
      setName('')
      setTried(false)
      onClose()
    },
  })
  const fault = (value: string) => (isTried && !NAME.test(value) ? RULE : undefined)

  const create = () => {
    setTried(true)
    if (NAME.test(owner) && NAME.test(name)) creation.mutate()
  }
  return (
    <Dialog title="New project" isOpen={isOpen} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          create()
        }}
      >
        <TextInput
          label="Owner"
          value={owner}
          onChange={setOwner}
          isDisabled={ownOwner !== null}
          placeholder="acme"
          errorMessage={fault(owner)}
        />
        <TextInput
          label="Name"
          value={name}
          onChange={setName}
          placeholder="dex"
          errorMessage={fault(name)}
        />
        <Tick isOn={isPublic} onChange={setPublic}>
          Everybody may query it, without a key
        </Tick>
        {creation.error && <ErrorNotice error={creation.error} />}
        <div className="row end">
          <Button onPress={onClose}>Cancel</Button>
          <Button look="primary" type="submit" isPending={creation.isPending}>
            Create project
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
