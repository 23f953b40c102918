import { AlertTriangle, CheckCircle2, CircleAlert, RotateCw } from 'lucide-react'
import type { ReactNode } from 'react'
import { ApiError } from '../api/request.ts'
import { Button } from './button.tsx'

/** What happened, and what to try. */
export function ErrorNotice({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const hint =
    error instanceof ApiError
      ? whatToTry(error)
      : 'This is a defect of the console; loading the page again may help.'
  return (
    <div className="notice bad" role="alert">
      <CircleAlert aria-hidden />
      <div className="grow stack tight">
        <p>{error instanceof Error ? error.message : String(error)}</p>
        {hint !== null && <p className="hint small">{hint}</p>}
      </div>
      {onRetry && (
        <Button onPress={onRetry}>
          <RotateCw aria-hidden /> Try again
        </Button>
      )}
    </div>
  )
}

function whatToTry({ status, requestId }: ApiError): string | null {
  if (status === 0) return 'The page goes on by itself as soon as the service answers.'
  if (status === 401) return 'Sign in again: the session has ended, or its key was revoked.'
  if (status === 403) return 'Sign in with a key that has this permission, or ask an administrator for one.'
  if (status === 429 || status === 503) return 'The service is busy or starting. Try again in a few seconds.'
  if (status === 504) return 'Ask for less at once: a shorter time range, fewer series, or a LIMIT.'
  if (status >= 500) return `The log of the service has the cause under request ${requestId ?? ''}.`
  return null
}

/** Something to know that is no failure. */
export function Notice({
  look = 'plain',
  children,
}: {
  readonly look?: 'plain' | 'warn' | 'good'
  readonly children: ReactNode
}) {
  return (
    <div className={`notice ${look}`} role="status">
      {look === 'good' ? <CheckCircle2 aria-hidden /> : <AlertTriangle aria-hidden />}
      <div className="grow">{children}</div>
    </div>
  )
}

/** What of a request was probably not meant so, or what its answer lacks. */
export function Warnings({ warnings = [] }: { readonly warnings?: readonly string[] | undefined }) {
  return warnings.map((warning) => (
    <Notice key={warning} look="warn">
      {warning}
    </Notice>
  ))
}

/** Nothing is here yet, and what to do about it. */
export function Empty({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  )
}

/** Something is under way. */
export function Progress({ label }: { readonly label: string }) {
  return <div className="bar" role="progressbar" aria-label={label} />
}
