import { History } from 'lucide-react'
import { Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components'
import { projectPath, type ProjectAddress } from '../api/project-address.ts'
import { Button } from '../parts/button.tsx'

const LENGTH = 30

function placeOf(address: ProjectAddress): string {
  return `millrace-statements ${projectPath(address)}`
}

function statementsOf(address: ProjectAddress): readonly string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(placeOf(address)) ?? '[]')
    return Array.isArray(stored) ? stored.filter((each) => typeof each === 'string') : []
  } catch {
    return []
  }
}

/** Notes a statement that was run, in this browser. */
export function noteStatement(address: ProjectAddress, sql: string): void {
  const before = statementsOf(address).filter((each) => each !== sql)
  localStorage.setItem(placeOf(address), JSON.stringify([sql, ...before].slice(0, LENGTH)))
}

/** The statements that were run in this browser, the latest first. */
export function QueryHistory({
  address,
  onPick,
}: {
  readonly address: ProjectAddress
  readonly onPick: (sql: string) => void
}) {
  const statements = statementsOf(address)
  return (
    <MenuTrigger>
      <Button isDisabled={statements.length === 0}>
        <History aria-hidden /> Recent
      </Button>
      <Popover className="popover list" placement="bottom end">
        <Menu
          className="menu"
          aria-label="Recent statements"
          onAction={(key) => onPick(statements[Number(key)] ?? '')}
        >
          {statements.map((sql, index) => (
            <MenuItem key={sql} id={String(index)} className="option" textValue={sql}>
              <span className="cut mono">{sql.replaceAll(/\s+/g, ' ')}</span>
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  )
}
