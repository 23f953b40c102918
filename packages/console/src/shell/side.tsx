import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import {
  ChartLine,
  Database,
  KeyRound,
  LayoutDashboard,
  LayoutGrid,
  LogOut,
  Moon,
  SquareTerminal,
  Sun,
  Webhook,
  type LucideIcon,
} from 'lucide-react'
import { useSyncExternalStore } from 'react'
import { projectsQuery } from '../api/project.ts'
import { request } from '../api/request.ts'
import { sessionQuery, usePermissions } from '../api/session.ts'
import mark from '../mark.svg'
import { IconButton } from '../parts/button.tsx'
import { Choose } from '../parts/field.tsx'
import { currentTheme, onThemeChange, switchTheme } from './theme.ts'

/** The navigation: the projects, the parts of the chosen one, the keys, and who is signed in. */
export function Side() {
  const { owner, project } = useParams({ strict: false })
  const { mayManageKeys } = usePermissions()
  return (
    <aside className="side" aria-label="Navigation">
      <Link to="/" className="brand">
        <img src={mark} alt="" /> Millrace
      </Link>
      <ProjectChoice />
      {owner !== undefined && project !== undefined && <ProjectNav owner={owner} project={project} />}
      <nav className="nav" aria-label="Service">
        <NavLink to="/" Picture={LayoutGrid}>
          Projects
        </NavLink>
        {mayManageKeys && (
          <NavLink to="/keys" Picture={KeyRound}>
            Keys
          </NavLink>
        )}
      </nav>
      <SideEnd />
    </aside>
  )
}

function ProjectChoice() {
  const { owner, project } = useParams({ strict: false })
  const { data: projects = [] } = useQuery(projectsQuery)
  const navigate = useNavigate()
  if (projects.length === 0) return null
  return (
    <Choose
      label="Project"
      isLabelHidden
      placeholder="Choose a project"
      value={owner === undefined ? null : `${owner}/${project}`}
      choices={projects.map((each) => `${each.owner}/${each.name}`).map((name) => ({ id: name, name }))}
      onChange={(address) => {
        const [owner = '', project = ''] = address.split('/')
        void navigate({ to: '/p/$owner/$project', params: { owner, project } })
      }}
    />
  )
}

function ProjectNav({ owner, project }: { readonly owner: string; readonly project: string }) {
  const { mayRead, mayAdmin } = usePermissions()
  const params = { owner, project }
  return (
    <nav className="nav" aria-label="Project">
      <NavLink to="/p/$owner/$project" params={params} Picture={LayoutDashboard}>
        Overview
      </NavLink>
      {mayRead && (
        <>
          <NavLink to="/p/$owner/$project/metrics" params={params} Picture={ChartLine}>
            Metrics
          </NavLink>
          <NavLink to="/p/$owner/$project/sql" params={params} Picture={SquareTerminal}>
            SQL
          </NavLink>
          <NavLink to="/p/$owner/$project/data" params={params} Picture={Database}>
            Data
          </NavLink>
        </>
      )}
      {(mayAdmin || mayRead) && (
        <NavLink to="/p/$owner/$project/webhooks" params={params} Picture={Webhook}>
          Webhooks
        </NavLink>
      )}
    </nav>
  )
}

function NavLink({
  to,
  params,
  Picture,
  children,
}: {
  readonly to: string
  readonly params?: { readonly owner: string; readonly project: string }
  readonly Picture: LucideIcon
  readonly children: string
}) {
  const isExact = to === '/' || to === '/p/$owner/$project'
  return (
    <Link
      to={to as '/'}
      {...(params ? { params: params as never } : {})}
      className="nav-link"
      activeOptions={{ exact: isExact, includeSearch: false }}
    >
      <Picture aria-hidden /> {children}
    </Link>
  )
}

function SideEnd() {
  const client = useQueryClient()
  const navigate = useNavigate()
  const { data: key } = useQuery(sessionQuery)
  const theme = useSyncExternalStore(onThemeChange, currentTheme)
  const signOut = async () => {
    await request('/session', { method: 'DELETE' }).catch(() => undefined)
    client.clear()
    await navigate({ to: '/sign-in' })
  }
  return (
    <div className="side-end">
      <div className="row between">
        <div className="grow">
          <div className="cut">{key?.name}</div>
          <div className="soft small cut">{key?.permissions.join(', ')}</div>
        </div>
        <IconButton name={theme === 'dark' ? 'Light theme' : 'Dark theme'} onPress={switchTheme}>
          {theme === 'dark' ? <Sun aria-hidden /> : <Moon aria-hidden />}
        </IconButton>
        <IconButton name="Sign out" onPress={() => void signOut()}>
          <LogOut aria-hidden />
        </IconButton>
      </div>
    </div>
  )
}
