import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import { projectQuery, projectsQuery } from '../api/project.ts'
import { projectPath, type ProjectAddress } from '../api/project-address.ts'
import { request } from '../api/request.ts'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { TextInput, Toggle } from '../parts/field.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { Card } from '../parts/page.tsx'

/** Who may read a project, and its end. */
export function ProjectSettings({ address }: { readonly address: ProjectAddress }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const { data: project } = useQuery(projectQuery(address))
  const [isAsked, setAsked] = useState(false)
  const [typed, setTyped] = useState('')
  const [error, setError] = useState<unknown>(null)
  const name = projectPath(address)
  const setPublic = async (isPublic: boolean) => {
    try {
      await request(`/projects/${name}`, { method: 'PATCH', body: { isPublic } })
      setError(null)
      await client.invalidateQueries({ queryKey: ['project'] })
    } catch (thrown) {
      setError(thrown)
    }
  }
  return (
    <Card>
      <div className="stack">
        <Toggle isOn={project?.isPublic ?? false} onChange={(isPublic) => void setPublic(isPublic)}>
          Everybody may query this project, without a key
        </Toggle>
        {error !== null && <ErrorNotice error={error} />}
        <div>
          <Button look="danger" onPress={() => setAsked(true)}>
            <Trash2 aria-hidden /> Delete the project
          </Button>
        </div>
      </div>
      <Confirm
        title={`Delete ${name}?`}
        isOpen={isAsked}
        onClose={() => setAsked(false)}
        action="Delete project"
        onConfirm={async () => {
          if (typed !== name) throw new Error(`Type ${name} to delete it.`)
          await request(`/projects/${name}`, { method: 'DELETE' })
          await client.invalidateQueries({ queryKey: projectsQuery.queryKey })
          await navigate({ to: '/' })
        }}
      >
        <p>All its data, channels and dead letters are deleted. This cannot be undone.</p>
        <TextInput label={`Type ${name} to go on`} isMono value={typed} onChange={setTyped} />
      </Confirm>
    </Card>
  )
}
