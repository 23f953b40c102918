import type { QueryClient } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Link,
  Outlet,
  redirect,
  type ErrorComponentProps,
} from '@tanstack/react-router'
import { sessionQuery } from './api/session.ts'
import { readExplorerState } from './explorer/explorer-state.ts'
import { readDataState } from './records/data-state.ts'
import { ProjectOverview } from './overview/project-overview.tsx'
import { ProjectsPage } from './overview/projects-page.tsx'
import { Empty, ErrorNotice } from './parts/notice.tsx'
import { Shell } from './shell/shell.tsx'
import { SignInPage } from './sign-in/sign-in-page.tsx'

const root = createRootRouteWithContext<{ readonly client: QueryClient }>()({
  component: Outlet,
  notFoundComponent: NotFound,
  errorComponent: Failed,
})

const signIn = createRoute({
  getParentRoute: () => root,
  path: 'sign-in',
  // What is not said here is left as it came in the address: everything unwanted is said to be undefined.
  validateSearch: (search): { next?: string | undefined; hasEnded?: true | undefined } => ({
    // Only an address of this console: another site must not be able to lead a browser on to itself.
    next:
      typeof search['next'] === 'string' && /^\/(?![/\\])/.test(search['next']) ? search['next'] : undefined,
    hasEnded: search['hasEnded'] === true || undefined,
  }),
  component: SignInPage,
})

const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  beforeLoad: async ({ context, location }) => {
    const key = await context.client.ensureQueryData({ ...sessionQuery, revalidateIfStale: true })
    if (!key) throw redirect({ to: '/sign-in', search: { next: location.href } })
  },
  component: Shell,
  errorComponent: Failed,
})

const home = createRoute({ getParentRoute: () => signedIn, path: '/', component: ProjectsPage })
const keys = createRoute({
  getParentRoute: () => signedIn,
  path: 'keys',
  component: lazyRouteComponent(() => import('./keys/keys-page.tsx'), 'KeysPage'),
})
const project = createRoute({ getParentRoute: () => signedIn, path: 'p/$owner/$project', component: Outlet })
const overview = createRoute({ getParentRoute: () => project, path: '/', component: ProjectOverview })
const metrics = createRoute({
  getParentRoute: () => project,
  path: 'metrics',
  validateSearch: readExplorerState,
  component: lazyRouteComponent(() => import('./explorer/explorer-page.tsx'), 'ExplorerPage'),
})
const sql = createRoute({
  getParentRoute: () => project,
  path: 'sql',
  validateSearch: (search): { sql?: string | undefined } => ({
    sql: typeof search['sql'] === 'string' ? search['sql'] : undefined,
  }),
  component: lazyRouteComponent(() => import('./sql/sql-page.tsx'), 'SqlPage'),
})
const webhooks = createRoute({
  getParentRoute: () => project,
  path: 'webhooks',
  component: lazyRouteComponent(() => import('./webhooks/channels-page.tsx'), 'ChannelsPage'),
})
const channel = createRoute({
  getParentRoute: () => project,
  path: 'webhooks/$channel',
  component: lazyRouteComponent(() => import('./webhooks/channel-page.tsx'), 'ChannelPage'),
})
const data = createRoute({
  getParentRoute: () => project,
  path: 'data',
  validateSearch: readDataState,
  component: lazyRouteComponent(() => import('./records/data-page.tsx'), 'DataPage'),
})

const routes = root.addChildren([
  signIn,
  signedIn.addChildren([home, keys, project.addChildren([overview, metrics, sql, webhooks, channel, data])]),
])

/** The pages of the console and their addresses. */
export function createConsoleRouter(client: QueryClient) {
  return createRouter({ routeTree: routes, context: { client }, defaultPreload: 'intent' })
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>
  }
}

function NotFound() {
  return (
    <Empty title="There is no such page">
      <p>The address may be of another version of the console.</p>
      <Link to="/">Go to the projects</Link>
    </Empty>
  )
}

function Failed({ error, reset }: ErrorComponentProps) {
  return (
    <div className="page">
      <ErrorNotice error={error} onRetry={reset} />
    </div>
  )
}
