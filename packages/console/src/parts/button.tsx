import { Button as AriaButton, Tooltip, TooltipTrigger, type ButtonProps } from 'react-aria-components'

type Look = 'plain' | 'primary' | 'danger' | 'quiet' | 'link'

/** A button with a look. */
export function Button({
  look = 'plain',
  isPending = false,
  isDisabled = false,
  ...rest
}: ButtonProps & { readonly look?: Look }) {
  // Not the library's own pending state: its announcement refers to the button even after that is gone.
  return <AriaButton {...rest} isDisabled={isDisabled || isPending} className={`button ${look}`} />
}

/** A button that shows a picture and says its name. */
export function IconButton({
  name,
  look = 'quiet',
  ...rest
}: ButtonProps & { readonly name: string; readonly look?: Look }) {
  return (
    <TooltipTrigger delay={500}>
      <AriaButton {...rest} aria-label={name} className={`button icon ${look}`} />
      <Tooltip className="tooltip" offset={6}>
        {name}
      </Tooltip>
    </TooltipTrigger>
  )
}
