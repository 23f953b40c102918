import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { Button, IconButton } from './button.tsx'

async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    // Without https the clipboard's interface is missing; a selection does.
    const area = document.createElement('textarea')
    area.value = text
    document.body.append(area)
    area.select()
    document.execCommand('copy')
    area.remove()
  }
}

/** A button that copies a text. */
export function CopyButton({
  text,
  name = 'Copy',
  children,
}: {
  /** A function where making it takes a while. */
  readonly text: string | (() => string)
  readonly name?: string
  readonly children?: string
}) {
  const [isCopied, setCopied] = useState(false)
  const onPress = () => {
    void copy(typeof text === 'string' ? text : text())
    setCopied(true)
    setTimeout(() => setCopied(false), 1600)
  }
  const picture = isCopied ? <Check aria-hidden /> : <Copy aria-hidden />
  return children === undefined ? (
    <IconButton name={isCopied ? 'Copied' : name} onPress={onPress}>
      {picture}
    </IconButton>
  ) : (
    <Button onPress={onPress}>
      {picture} {isCopied ? 'Copied' : children}
    </Button>
  )
}

/** Lines to copy. */
export function Code({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <div className="code">
      <pre tabIndex={0} role="region" aria-label={label}>
        {text}
      </pre>
      <CopyButton text={text} name={`Copy ${label}`} />
    </div>
  )
}
