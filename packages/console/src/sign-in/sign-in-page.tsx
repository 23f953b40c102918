import type { SessionView } from '@millrace/contract'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRouter, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { ApiError, request } from '../api/request.ts'
import { sessionQuery } from '../api/session.ts'
import mark from '../mark.svg'
import { Button } from '../parts/button.tsx'
import { TextInput } from '../parts/field.tsx'
import { ErrorNotice } from '../parts/notice.tsx'

/** Where a key becomes a session. */
export function SignInPage() {
  const { next, hasEnded } = useSearch({ from: '/sign-in' })
  const client = useQueryClient()
  const router = useRouter()
  const [key, setKey] = useState('')
  const {
    mutate: signIn,
    isPending,
    error,
  } = useMutation({
    mutationFn: () => request<SessionView>('/session', { method: 'POST', body: { key: key.trim() } }),
    onSuccess: (session) => {
      client.clear()
      client.setQueryData(sessionQuery.queryKey, session.key)
      router.history.push(next ?? '/')
    },
  })
  useEffect(() => {
    document.title = 'Sign in · Millrace'
  }, [])
  return (
    <main className="sign-in">
      <form
        className="card"
        onSubmit={(event) => {
          event.preventDefault()
          if (key.trim() !== '') signIn()
        }}
      >
        <div className="row">
          <img src={mark} alt="" width="36" height="36" />
          <h1>Millrace</h1>
        </div>
        {hasEnded && !error && (
          <p className="notice" role="status">
            The session has ended. Sign in again to go on where you were.
          </p>
        )}
        <TextInput
          label="API key"
          type="password"
          isMono
          autoFocus
          autoComplete="current-password"
          placeholder="mr_…"
          value={key}
          onChange={setKey}
          hint="The first start printed the administrator key, once. Other keys are made under Keys."
        />
        {error &&
          (error instanceof ApiError && error.status === 401 ? (
            <p className="notice bad" role="alert">
              {sentence(error.message)}
            </p>
          ) : (
            <ErrorNotice error={error} />
          ))}
        <Button look="primary" type="submit" isPending={isPending}>
          {isPending ? 'Signing in …' : 'Sign in'}
        </Button>
        <p className="soft small">
          The browser keeps no key: it holds a sealed cookie that ends in seven days, on signing out, or when
          the key is revoked.
        </p>
      </form>
    </main>
  )
}

function sentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`
}
