import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ApiError, onSessionEnd } from './api/request.ts'
import { sessionQuery } from './api/session.ts'
import { createConsoleRouter } from './router.tsx'
import { noteLost } from './shell/health.ts'
import { applyTheme } from './shell/theme.ts'
import './styles/tokens.css'
import './styles/base.css'
import './styles/controls.css'
import './styles/parts.css'
import './styles/shell.css'
import './styles/pages.css'

applyTheme()

function noteFailure(error: Error) {
  if (error instanceof ApiError && error.status === 0) noteLost(client)
}

const client = new QueryClient({
  queryCache: new QueryCache({ onError: noteFailure }),
  mutationCache: new MutationCache({ onError: noteFailure }),
  defaultOptions: {
    queries: {
      networkMode: 'always',
      retry: (failures, error) => failures < 2 && error instanceof ApiError && error.status === 503,
      refetchOnWindowFocus: false,
    },
    mutations: { networkMode: 'always' },
  },
})
const router = createConsoleRouter(client)

onSessionEnd(() => {
  // Whoever signs in, or asks whether he is signed in, has no session that could end.
  if (!client.getQueryData(sessionQuery.queryKey)) return
  // The key was revoked, or the session is too old: whatever is on the screen may not be shown any longer.
  client.setQueryData(sessionQuery.queryKey, null)
  void router.navigate({ to: '/sign-in', search: { next: router.latestLocation.href, hasEnded: true } })
})

const root = document.querySelector('#root')
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  )
}
