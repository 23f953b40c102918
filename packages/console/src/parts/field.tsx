import { Check, ChevronDown } from 'lucide-react'
import type { ReactNode } from 'react'
import {
  Button,
  Checkbox,
  ComboBox,
  FieldError,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  Select,
  SelectValue,
  Switch,
  Text,
  TextArea,
  TextField,
} from 'react-aria-components'

interface Named {
  readonly label: string
  readonly isLabelHidden?: boolean
  readonly hint?: ReactNode
}

/** A field of one line, or of several. */
export function TextInput({
  label,
  isLabelHidden,
  hint,
  value,
  onChange,
  onBlur,
  lines,
  placeholder,
  isMono,
  ...rest
}: Named & {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly onBlur?: () => void
  readonly lines?: number
  readonly placeholder?: string
  readonly isMono?: boolean
  readonly type?: 'text' | 'password' | 'url' | 'search' | 'number' | 'date'
  readonly isRequired?: boolean
  readonly isDisabled?: boolean
  readonly autoFocus?: boolean
  readonly autoComplete?: string
  readonly errorMessage?: string | undefined
}) {
  const { errorMessage, ...field } = rest
  const look = isMono ? 'input mono' : 'input'
  return (
    <TextField
      {...field}
      className="field"
      value={value}
      onChange={onChange}
      {...(onBlur ? { onBlur } : {})}
      isInvalid={errorMessage !== undefined}
    >
      <Label className={isLabelHidden ? 'unseen' : 'label'}>{label}</Label>
      {lines ? (
        <TextArea className={look} rows={lines} placeholder={placeholder ?? ''} />
      ) : (
        <Input className={look} placeholder={placeholder ?? ''} spellCheck="false" />
      )}
      {hint !== undefined && (
        <Text slot="description" className="hint">
          {hint}
        </Text>
      )}
      <FieldError className="fault">{errorMessage}</FieldError>
    </TextField>
  )
}

/** One of a list of choices. */
export interface Choice {
  readonly id: string
  readonly name: string
  readonly aside?: string
}

/** Picks one of a few. */
export function Choose({
  label,
  isLabelHidden,
  hint,
  value,
  onChange,
  choices,
  placeholder = 'Choose',
  isDisabled = false,
}: Named & {
  readonly value: string | null
  readonly onChange: (value: string) => void
  readonly choices: readonly Choice[]
  readonly placeholder?: string
  readonly isDisabled?: boolean
}) {
  return (
    <Select
      className="field"
      value={value}
      isDisabled={isDisabled}
      placeholder={placeholder}
      onChange={(key) => key !== null && onChange(String(key))}
    >
      <Label className={isLabelHidden ? 'unseen' : 'label'}>{label}</Label>
      <Button className="select-button">
        <SelectValue />
        <ChevronDown aria-hidden />
      </Button>
      {hint !== undefined && (
        <Text slot="description" className="hint">
          {hint}
        </Text>
      )}
      <Popover className="popover list">
        <ListBox className="listbox" items={choices}>
          {ChoiceItem}
        </ListBox>
      </Popover>
    </Select>
  )
}

/** Picks one of many by typing; with `allowsOthers` anything may be typed. */
export function Search({
  label,
  isLabelHidden,
  hint,
  value,
  onChange,
  choices,
  placeholder = '',
  allowsOthers = false,
}: Named & {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly choices: readonly Choice[]
  readonly placeholder?: string
  readonly allowsOthers?: boolean
}) {
  return (
    <ComboBox
      className="field"
      key={value}
      defaultSelectedKey={value}
      defaultInputValue={choices.find(({ id }) => id === value)?.name ?? value}
      defaultItems={choices}
      allowsCustomValue={allowsOthers}
      menuTrigger="focus"
      allowsEmptyCollection={false}
      onSelectionChange={(key) => key !== null && key !== value && onChange(String(key))}
      {...(allowsOthers
        ? {
            onBlur: (event: React.FocusEvent) => {
              const typed = (event.target as HTMLInputElement).value
              if (typed !== undefined && typed !== value) onChange(typed)
            },
          }
        : {})}
    >
      <Label className={isLabelHidden ? 'unseen' : 'label'}>{label}</Label>
      <div className="combo">
        <Input className="input" placeholder={placeholder} spellCheck="false" />
        <Button aria-label={`Show ${label}`}>
          <ChevronDown aria-hidden />
        </Button>
      </div>
      {hint !== undefined && (
        <Text slot="description" className="hint">
          {hint}
        </Text>
      )}
      <Popover className="popover list">
        <ListBox className="listbox">{ChoiceItem}</ListBox>
      </Popover>
    </ComboBox>
  )
}

function ChoiceItem({ id, name, aside }: Choice) {
  return (
    <ListBoxItem id={id} textValue={name} className="option">
      <span className="cut">{name}</span>
      {aside !== undefined && <span className="aside">{aside}</span>}
    </ListBoxItem>
  )
}

/** On or off, at once. */
export function Toggle({
  children,
  isOn,
  onChange,
}: {
  readonly children: ReactNode
  readonly isOn: boolean
  readonly onChange: (isOn: boolean) => void
}) {
  return (
    <Switch className="switch" isSelected={isOn} onChange={onChange}>
      <span className="track">
        <span className="thumb" />
      </span>
      {children}
    </Switch>
  )
}

/** Ticked or not. */
export function Tick({
  children,
  isOn,
  onChange,
  isDisabled = false,
}: {
  readonly children: ReactNode
  readonly isOn: boolean
  readonly onChange: (isOn: boolean) => void
  readonly isDisabled?: boolean
}) {
  return (
    <Checkbox className="check" isSelected={isOn} onChange={onChange} isDisabled={isDisabled}>
      <span className="box">
        <Check aria-hidden strokeWidth={3} />
      </span>
      <span>{children}</span>
    </Checkbox>
  )
}
