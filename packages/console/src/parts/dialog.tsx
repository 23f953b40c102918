import { useMutation } from '@tanstack/react-query'
import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components'
import { Button, IconButton } from './button.tsx'
import { ErrorNotice } from './notice.tsx'

interface DialogProps {
  readonly title: string
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly children: ReactNode
  readonly place?: 'middle' | 'wide' | 'side'
  /** False when closing would lose something that is shown only once. */
  readonly isDismissable?: boolean
}

/** A dialog in the middle, or a sheet at the side. */
export function Dialog({
  title,
  isOpen,
  onClose,
  children,
  place = 'middle',
  isDismissable = true,
}: DialogProps) {
  return (
    <ModalOverlay
      className={place === 'side' ? 'overlay sheet' : 'overlay'}
      isOpen={isOpen}
      onOpenChange={(open) => !open && onClose()}
      isDismissable={isDismissable}
      isKeyboardDismissDisabled={!isDismissable}
    >
      <Modal className={place === 'wide' ? 'modal wide' : 'modal'}>
        <AriaDialog className="dialog">
          <div className="row between">
            <Heading slot="title" level={2}>
              {title}
            </Heading>
            {isDismissable && (
              <IconButton name="Close" onPress={onClose}>
                <X aria-hidden />
              </IconButton>
            )}
          </div>
          {children}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  )
}

/** Asks before what cannot be undone. */
export function Confirm({
  title,
  isOpen,
  onClose,
  action,
  onConfirm,
  children,
}: {
  readonly title: string
  readonly isOpen: boolean
  readonly onClose: () => void
  /** What the button says, e.g. `Revoke key`. */
  readonly action: string
  readonly onConfirm: () => Promise<unknown>
  readonly children: ReactNode
}) {
  const { mutate: confirm, isPending, error } = useMutation({ mutationFn: onConfirm, onSuccess: onClose })
  return (
    <Dialog title={title} isOpen={isOpen} onClose={onClose}>
      <div className="stack tight">{children}</div>
      {error && <ErrorNotice error={error} />}
      <div className="row end">
        <Button onPress={onClose}>Cancel</Button>
        <Button look="danger" isPending={isPending} onPress={() => confirm()}>
          {action}
        </Button>
      </div>
    </Dialog>
  )
}
