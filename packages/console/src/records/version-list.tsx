import type { VersionView } from '@millrace/contract'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { projectQuery } from '../api/project.ts'
import { projectPath, type ProjectAddress } from '../api/project-address.ts'
import { request } from '../api/request.ts'
import { usePermissions } from '../api/session.ts'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { ago } from '../parts/format.ts'
import { ErrorNotice, Progress } from '../parts/notice.tsx'
import { Badge, Card } from '../parts/page.tsx'

/** The processor versions of a project: activate one, delete one. */
export function VersionList({ address }: { readonly address: ProjectAddress }) {
  const client = useQueryClient()
  const { mayAdmin } = usePermissions()
  const { data: project, error } = useQuery(projectQuery(address))
  const [asked, setAsked] = useState<{
    readonly verb: 'activate' | 'delete'
    readonly version: VersionView
  } | null>(null)
  const act = async () => {
    if (!asked) return
    const path = `/projects/${projectPath(address)}/versions/${asked.version.number}`
    await (asked.verb === 'activate'
      ? request(`${path}/activate`, { method: 'POST' })
      : request(path, { method: 'DELETE' }))
    await client.invalidateQueries()
  }
  if (error) return <ErrorNotice error={error} />
  if (!project) return <Progress label="Loading versions" />
  return (
    <Card isPadded={false}>
      {project.versions.length === 0 ? (
        <p className="card-body soft">
          No version yet: the first records, or the first upload of a processor, make version 1.
        </p>
      ) : (
        <div className="table-box">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Version</th>
                <th scope="col">State</th>
                <th scope="col">Made</th>
                <th scope="col">
                  <span className="unseen">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {project.versions.toReversed().map((version) => (
                <tr key={version.number}>
                  <td>
                    <strong>{version.number}</strong>
                  </td>
                  <td>
                    <Badge look={version.state === 'active' ? 'good' : 'plain'}>{version.state}</Badge>
                  </td>
                  <td>{ago(version.createdAt)}</td>
                  <td>
                    {mayAdmin && version.state !== 'active' && (
                      <div className="row end">
                        <Button onPress={() => setAsked({ verb: 'activate', version })}>Activate</Button>
                        <Button look="danger" onPress={() => setAsked({ verb: 'delete', version })}>
                          Delete
                        </Button>
                      </div>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <Confirm
        title={
          asked?.verb === 'delete'
            ? `Delete version ${asked.version.number}?`
            : `Activate version ${asked?.version.number ?? ''}?`
        }
        isOpen={asked !== null}
        onClose={() => setAsked(null)}
        action={asked?.verb === 'delete' ? 'Delete version' : 'Activate'}
        onConfirm={act}
      >
        <p>
          {asked?.verb === 'delete'
            ? 'All its data is deleted. This cannot be undone.'
            : `Queries that name no version read it from now on. Version ${project.activeVersion ?? ''} keeps its data.`}
        </p>
      </Confirm>
    </Card>
  )
}
