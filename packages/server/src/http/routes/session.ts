import { SessionCreation, SessionView } from '@millrace/contract'
import { Type } from 'typebox'
import { ServiceError } from '../../platform/errors.ts'
import type { Keys } from '../../projects/keys.ts'
import type { Projects } from '../../projects/projects.ts'
import { SESSION_HEADER, type ConsoleSessions, type SessionHeaders } from '../console-session.ts'
import { defineRoute, type AnyRoute } from '../route.ts'
import { keyToWire } from './keys.ts'

export interface SessionRouteDependencies {
  readonly sessions: ConsoleSessions
  readonly keys: Keys
  readonly projects: Projects
}

/** `POST`, `GET` and `DELETE /session`: how a browser signs in with a key, learns what it may do, and signs out. */
export function sessionRoutes({ sessions, keys, projects }: SessionRouteDependencies): readonly AnyRoute[] {
  const view = async (secret: string): Promise<SessionView> => {
    const key = await keys.authenticate(secret)
    return { key: keyToWire(key, await projects.list(key.owner)) }
  }
  return [
    defineRoute({
      method: 'POST',
      path: '/session',
      permission: null,
      summary: 'Signs a browser in with a key.',
      description: `Sets a cookie that stands for the key, together with the header ${SESSION_HEADER} and never without it, for seven days or until the key is revoked.`,
      tag: 'management',
      body: SessionCreation,
      answer: SessionView,
      status: 201,
      handle: async ({ body, headers, setHeader }) => {
        if (headers[SESSION_HEADER] === undefined) {
          throw new ServiceError(
            'permission_denied',
            `the header ${SESSION_HEADER} is required: another site could sign a browser in without it`,
          )
        }
        const answer = await view(body.key)
        setHeader('set-cookie', sessions.open(body.key, isSecure(headers)))
        setHeader('cache-control', 'no-store')
        return answer
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/session',
      permission: null,
      summary: 'The key behind the session.',
      tag: 'management',
      answer: SessionView,
      handle: ({ headers, setHeader }) => {
        setHeader('cache-control', 'no-store')
        const secret = sessions.secretOf(headers)
        if (secret === null) throw new ServiceError('unauthenticated', 'nobody is signed in')
        return view(secret)
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/session',
      permission: null,
      summary: 'Signs the browser out.',
      tag: 'management',
      answer: Type.Object({}),
      handle: ({ headers, setHeader }) => {
        setHeader('set-cookie', sessions.close(isSecure(headers)))
        return {}
      },
    }),
  ]
}

/** Whether the browser came by https: the proxy in front says so, as the service itself speaks http. */
function isSecure(headers: SessionHeaders): boolean {
  return headers['x-forwarded-proto'] === 'https'
}
