import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ApiError } from './api/request.ts'
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
  // The key was revoked, or the session has ended: whatever is on the screen may not be shown any longer.
  if (error instanceof ApiError && error.status === 401 && client.getQueryData(sessionQuery.queryKey)) {
    client.setQueryData(sessionQuery.queryKey, null)
    void router.invalidate()
  }
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
