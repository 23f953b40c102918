import { Plus } from 'lucide-react'
import {
  Autocomplete,
  Header,
  Input,
  Menu,
  MenuItem,
  MenuSection,
  MenuTrigger,
  Popover,
  SearchField,
  useFilter,
} from 'react-aria-components'
import { Button } from './button.tsx'

/** Names to pick from, under a heading. */
export interface PickSection {
  readonly name: string
  readonly items: readonly { readonly id: string; readonly aside?: string }[]
}

/** A button that opens a list to pick a name from; typing narrows it. */
export function PickButton({
  name,
  label,
  sections,
  onPick,
}: {
  readonly name: string
  readonly label: string
  readonly sections: readonly PickSection[]
  readonly onPick: (id: string) => void
}) {
  const { contains } = useFilter({ sensitivity: 'base' })
  return (
    <MenuTrigger>
      <Button look="quiet">
        <Plus aria-hidden /> {name}
      </Button>
      <Popover className="popover pick" placement="bottom start">
        {/* The focus stays in the search: a list that takes it on pressing scrolls away under the pointer. */}
        <Autocomplete filter={contains}>
          <SearchField aria-label={`Search: ${label}`} className="pick-search" autoFocus>
            <Input className="input" placeholder="Search" />
          </SearchField>
          <Menu
            aria-label={label}
            className="listbox"
            onAction={(id) => onPick(String(id))}
            renderEmptyState={() => <p className="soft small card-body">Nothing by that name.</p>}
          >
            {sections.map((section) => (
              <MenuSection key={section.name} className="option-section">
                <Header>{section.name}</Header>
                {section.items.map(({ id, aside }) => (
                  <MenuItem key={id} id={id} className="option" textValue={id}>
                    <span className="cut">{id}</span>
                    {aside !== undefined && <span className="aside">{aside}</span>}
                  </MenuItem>
                ))}
              </MenuSection>
            ))}
          </Menu>
        </Autocomplete>
      </Popover>
    </MenuTrigger>
  )
}
