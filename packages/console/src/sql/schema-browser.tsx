import { useState } from 'react'
import { quoteName, type TableInfo } from '../api/project.ts'
import { Button } from '../parts/button.tsx'
import { TextInput } from '../parts/field.tsx'

/** The tables of the project with their columns. */
export function SchemaBrowser({
  tables,
  onInsert,
}: {
  readonly tables: readonly TableInfo[]
  readonly onInsert: (text: string) => void
}) {
  const [sought, setSought] = useState('')
  const shown = tables.filter(
    ({ name, columns }) =>
      name.toLowerCase().includes(sought.toLowerCase()) ||
      columns.some((column) => column.name.toLowerCase().includes(sought.toLowerCase())),
  )
  return (
    <section className="card schema" aria-label="Tables">
      <div className="toolbar">
        <TextInput
          label="Find a table or column"
          isLabelHidden
          type="search"
          placeholder="Find a table or column"
          value={sought}
          onChange={setSought}
        />
      </div>
      {shown.map(({ name, kind, columns }) => (
        <details key={name} open={sought !== ''}>
          <summary>
            <span className="cut">{name}</span>
            <span className="aside">{kind}</span>
          </summary>
          <ul>
            {columns.map((column) => (
              <li key={column.name}>
                <span className="cut">{column.name}</span>
                <span className="cut">{column.type}</span>
              </li>
            ))}
          </ul>
          <div className="toolbar">
            <Button
              look="quiet"
              onPress={() => onInsert(/^\w+$/.test(name) ? name : quoteName(name))}
            >{`Insert ${name}`}</Button>
          </div>
        </details>
      ))}
      {tables.length === 0 && (
        <p className="card-body soft small">No table yet: the first records make them.</p>
      )}
    </section>
  )
}
