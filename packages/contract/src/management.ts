import { Type } from 'typebox'

const instant = (description: string) => Type.String({ format: 'date-time', maxLength: 40, description })

export const PermissionName = Type.Union(
  [Type.Literal('read'), Type.Literal('write'), Type.Literal('admin')],
  {
    description: 'read queries and pulls, write ingests, admin manages channels, keys and settings (AU-2).',
  },
)

/** A project, as management answers show it. */
export const ProjectView = Type.Object({
  owner: Type.String(),
  name: Type.String(),
  type: Type.Union([Type.Literal('processor'), Type.Literal('subgraph')]),
  isPublic: Type.Boolean({ description: 'Can be queried without a key (AU-3).' }),
  activeVersion: Type.Union([Type.Integer(), Type.Null()], {
    description: 'The processor version that queries read by default; null before the first data.',
  }),
})
export type ProjectView = Type.Static<typeof ProjectView>

/** Answer of `GET /projects`. */
export const ProjectList = Type.Object({ projects: Type.Array(ProjectView) })

/** Body of `POST /projects`. */
export const ProjectCreation = Type.Object({
  owner: Type.String({ minLength: 1, maxLength: 100 }),
  name: Type.String({ minLength: 1, maxLength: 100 }),
  type: Type.Optional(Type.Union([Type.Literal('processor'), Type.Literal('subgraph')])),
  isPublic: Type.Optional(Type.Boolean()),
})
export type ProjectCreation = Type.Static<typeof ProjectCreation>

/** Body of `PATCH /projects/{owner}/{project}`. */
export const ProjectUpdate = Type.Object({ isPublic: Type.Optional(Type.Boolean()) })

/** A processor version of a project (IN-4). */
export const VersionView = Type.Object({
  number: Type.Integer({ description: 'Previous + 1; the number of a deleted version is not used again.' }),
  state: Type.Union([Type.Literal('pending'), Type.Literal('active')], {
    description: 'Queries read the active one unless they name another.',
  }),
  createdAt: instant('RFC 3339.'),
})
export type VersionView = Type.Static<typeof VersionView>

/** Answer of `GET /projects/{owner}/{project}/versions`, oldest first. */
export const VersionList = Type.Object({ versions: Type.Array(VersionView) })

/** Answer of `GET /projects/{owner}/{project}`: the project and its processor versions. */
export const ProjectDetails = Type.Object({
  ...ProjectView.properties,
  versions: Type.Array(VersionView),
})

/** Answer of `GET /projects/{owner}/{project}/usage`: what is stored, in all versions. */
export const ProjectUsage = Type.Object({
  rows: Type.Integer({ description: 'Stored rows: samples, events and states of entities.' }),
  bytes: Type.Integer({ description: 'On disk, compressed.' }),
})
export type ProjectUsage = Type.Static<typeof ProjectUsage>

/** Answer of `GET /service`. */
export const ServiceStatus = Type.Object({
  version: Type.String({ description: 'Of the service.' }),
  startedAt: instant('When this instance started, RFC 3339.'),
  engines: Type.Array(
    Type.Object({
      name: Type.Union([Type.Literal('facts'), Type.Literal('control')]),
      product: Type.String({ description: 'Which engine it is.' }),
      isAnswering: Type.Boolean(),
      latencyMs: Type.Union([Type.Number(), Type.Null()], { description: 'Of a ping; null without answer.' }),
    }),
  ),
  disk: Type.Union(
    [
      Type.Object({
        storedBytes: Type.Integer({ description: 'What the records of all projects take up.' }),
        freeBytes: Type.Integer(),
        totalBytes: Type.Integer(),
      }),
      Type.Null(),
    ],
    { description: 'The disk of the fact engine; null while it does not answer.' },
  ),
})
export type ServiceStatus = Type.Static<typeof ServiceStatus>

/** A key, as management answers show it: everything but the secret. */
export const KeyView = Type.Object({
  id: Type.String({ description: 'A decimal number.' }),
  name: Type.String(),
  owner: Type.Union([Type.String(), Type.Null()], { description: 'Null is the whole service.' }),
  permissions: Type.Array(PermissionName),
  projects: Type.Union([Type.Array(Type.String()), Type.Null()], {
    description: 'Addresses `owner/name` of the projects it is limited to; null is all of the owner.',
  }),
  createdAt: instant('RFC 3339.'),
  expiresAt: Type.Union([instant('RFC 3339.'), Type.Null()]),
  revokedAt: Type.Union([instant('RFC 3339.'), Type.Null()]),
  lastUsedAt: Type.Union([instant('RFC 3339, to the minute.'), Type.Null()]),
})
export type KeyView = Type.Static<typeof KeyView>

/** Answer of `GET /keys`. */
export const KeyList = Type.Object({ keys: Type.Array(KeyView) })

/** Body of `POST /keys`. */
export const KeyCreation = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 100 }),
  owner: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'Absent: as the key that asks, i.e. the whole service for an administrator.',
    }),
  ),
  permissions: Type.Array(PermissionName, { minItems: 1, maxItems: 10 }),
  projects: Type.Optional(
    Type.Array(Type.String(), {
      minItems: 1,
      maxItems: 1000,
      description: 'Limits the key to these projects: `owner/name`, or `name` of the owner.',
    }),
  ),
  expiresAt: Type.Optional(instant('RFC 3339, in the future.')),
})
export type KeyCreation = Type.Static<typeof KeyCreation>

/** Answer of `POST /keys`. The secret is shown here and never again (AU-1). */
export const KeyCreated = Type.Object({ key: KeyView, secret: Type.String() })
export type KeyCreated = Type.Static<typeof KeyCreated>

/** Body of `POST /session`. */
export const SessionCreation = Type.Object({
  key: Type.String({ minLength: 1, maxLength: 512, description: 'The secret of a key.' }),
})

/** Answer of `POST` and `GET /session`: the key that is signed in. */
export const SessionView = Type.Object({ key: KeyView })
export type SessionView = Type.Static<typeof SessionView>
