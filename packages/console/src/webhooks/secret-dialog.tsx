import { Button } from '../parts/button.tsx'
import { Code } from '../parts/code.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Notice } from '../parts/notice.tsx'

/** Shows a secret, the only time that it is shown. */
export function SecretDialog({
  title,
  secret,
  use,
  onClose,
}: {
  readonly title: string
  /** Null: closed. */
  readonly secret: string | null
  /** How it is used: lines to copy. */
  readonly use: string
  readonly onClose: () => void
}) {
  return (
    <Dialog title={title} isOpen={secret !== null} onClose={onClose} place="wide" isDismissable={false}>
      <Notice look="warn">Copy it now: it is stored as a hash or sealed, and cannot be shown again.</Notice>
      <Code label="secret" text={secret ?? ''} />
      <Code label="use" text={use} />
      <div className="row end">
        <Button look="primary" onPress={onClose}>
          I have copied it
        </Button>
      </div>
    </Dialog>
  )
}

/** How a receiver verifies calls with a signing secret. */
export const VERIFY_LINES = `import { verifyWebhook } from '@millrace/sdk'

const messages = verifyWebhook(request.headers, rawBody, process.env.WEBHOOK_SECRET)`
