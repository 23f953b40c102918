import type { ProjectView } from '@millrace/contract'
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
  const [isPending, setPending] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const fault = (value: string) => (isTried && !NAME.test(value) ? RULE : undefined)

  const create = async () => {
    setTried(true)
    if (!NAME.test(owner) || !NAME.test(name)) return
    setPending(true)
    setError(null)
    try {
      await request<ProjectView>('/projects', { method: 'POST', body: { owner, name, isPublic } })
      onCreated()
      setName('')
      setTried(false)
      onClose()
    } catch (thrown) {
      setError(thrown)
    } finally {
      setPending(false)
    }
  }
  return (
    <Dialog title="New project" isOpen={isOpen} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void create()
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
        {error !== null && <ErrorNotice error={error} />}
        <div className="row end">
          <Button onPress={onClose}>Cancel</Button>
          <Button look="primary" type="submit" isPending={isPending}>
            Create project
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
