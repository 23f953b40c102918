import type { ServiceStatus } from '@millrace/contract'
import { ago, byteSize } from '../parts/format.ts'
import { Badge, Card } from '../parts/page.tsx'

/** A disk with less than this left is told in a warning colour. */
const SCARCE = 0.1

/** The engines behind the service, and the disk. */
export function ServiceCard({ status }: { readonly status: ServiceStatus }) {
  return (
    <Card
      title="Service"
      isPadded={false}
      actions={
        <span className="soft small">
          version {status.version} · started {ago(status.startedAt)}
        </span>
      }
    >
      <div className="table-box" role="region" aria-label="Engines" tabIndex={0}>
        <table className="table">
          <thead>
            <tr>
              <th scope="col">Engine</th>
              <th scope="col">Holds</th>
              <th scope="col">State</th>
              <th scope="col" className="number">
                Answers in
              </th>
            </tr>
          </thead>
          <tbody>
            {status.engines.map(({ name, product, isAnswering, latencyMs }) => (
              <tr key={name}>
                <td>{product}</td>
                <td>{HOLDS[name]}</td>
                <td>
                  <Badge look={isAnswering ? 'good' : 'bad'}>
                    {isAnswering ? 'answers' : 'does not answer'}
                  </Badge>
                </td>
                <td className="number">{latencyMs === null ? '–' : `${latencyMs} ms`}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {status.disk && <Disk disk={status.disk} />}
    </Card>
  )
}

const HOLDS = {
  facts: 'metrics, event logs, entities',
  control: 'projects, keys, channels, queues',
} as const satisfies Record<ServiceStatus['engines'][number]['name'], string>

function Disk({ disk }: { readonly disk: NonNullable<ServiceStatus['disk']> }) {
  const { storedBytes, freeBytes, totalBytes } = disk
  const used = totalBytes === 0 ? 0 : (totalBytes - freeBytes) / totalBytes
  const words = `${byteSize(freeBytes)} of ${byteSize(totalBytes)} free`
  return (
    <div className="card-body disk">
      <div className="row between">
        <span>Disk</span>
        <span className="soft small">{`${words}, records take up ${byteSize(storedBytes)}`}</span>
      </div>
      <div
        className={freeBytes < SCARCE * totalBytes ? 'meter bad' : 'meter'}
        role="meter"
        aria-label="Used disk"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(used * 100)}
        aria-valuetext={words}
      >
        <span style={{ width: `${used * 100}%` }} />
      </div>
    </div>
  )
}
