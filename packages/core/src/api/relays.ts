import { z } from 'zod'
import { operation } from '../operation.js'
import { decimal, FilterInput, flag, httpUrl, integer, ipAddress, maybe, Pagination, segment, text, type Filter, type Maybe } from './fields.js'

/** A user of a relay session. The token is a secret of that user alone. */
export interface RelayUser {
  readonly ip_address?: Maybe<string>
  readonly latitude?: Maybe<number>
  readonly longitude?: Maybe<number>
  /** Unsigned 32-bit (public fact). */
  readonly authorization_token?: Maybe<number>
}

export interface RelayPort {
  readonly port?: Maybe<number>
  readonly protocol?: Maybe<string>
  readonly link?: Maybe<string>
}

export interface Relay {
  readonly ip?: Maybe<string>
  readonly host?: Maybe<string>
  /** `server` is for the hosting peer, `client` for the others. */
  readonly ports?: Maybe<{ readonly server?: Maybe<RelayPort>; readonly client?: Maybe<RelayPort> }>
}

/** Relays traffic between a set of users (service-api, Relay session). */
export interface RelaySession {
  readonly session_id: string
  /** Of the session, unsigned 32-bit (public fact). null until the session is ready. */
  readonly authorization_token?: Maybe<number>
  /** Sampled as READY. Branch on `ready`, `error` and the tokens instead. */
  readonly status?: Maybe<string>
  readonly ready?: Maybe<boolean>
  readonly linked?: Maybe<boolean>
  readonly error?: Maybe<string>
  readonly session_users?: Maybe<readonly RelayUser[]>
  readonly relay?: Maybe<Relay>
  readonly webhook_url?: Maybe<string>
}

/** The answer of authorize-user: one `session_user` in place of `session_users`. */
export interface RelaySessionOfUser extends Omit<RelaySession, 'session_users'> {
  readonly session_user?: Maybe<RelayUser>
}

/** Which fields are required is not shown; at least one user, by our choice. */
export interface CreateRelaySession {
  readonly users: readonly { readonly ip: string }[]
  readonly filters?: readonly Filter[] | undefined
  /** The session's data is sent there, once, when it is ready (public fact, unsure). */
  readonly webhook_url?: string | undefined
}

export interface RelaySessionId {
  readonly session_id: string
}

export interface AuthorizeRelayUser extends RelaySessionId {
  readonly user_ip: string
}

export interface RevokeRelayUser extends RelaySessionId {
  /** The user's token. */
  readonly authorization_token: number
}

export interface RelaySessionList {
  readonly sessions: readonly RelaySession[]
  readonly pagination?: Maybe<Pagination>
}

const token = z.int().min(0).max(0xffff_ffff)

export const RelayUser: z.ZodType<RelayUser> = z.looseObject({
  ip_address: maybe(text),
  latitude: maybe(decimal),
  longitude: maybe(decimal),
  authorization_token: maybe(token),
})
const RelayPort: z.ZodType<RelayPort> = z.looseObject({ port: maybe(integer), protocol: maybe(text), link: maybe(text) })
const Relay: z.ZodType<Relay> = z.looseObject({
  ip: maybe(text),
  host: maybe(text),
  ports: maybe(z.looseObject({ server: maybe(RelayPort), client: maybe(RelayPort) })),
})
const sessionFields = {
  session_id: z.string().min(1),
  authorization_token: maybe(token),
  status: maybe(text),
  ready: maybe(flag),
  linked: maybe(flag),
  error: maybe(text),
  relay: maybe(Relay),
  webhook_url: maybe(text),
}
export const RelaySession: z.ZodType<RelaySession> = z.looseObject({
  ...sessionFields,
  session_users: maybe(z.array(RelayUser)),
})
export const RelaySessionOfUser: z.ZodType<RelaySessionOfUser> = z.looseObject({
  ...sessionFields,
  session_user: maybe(RelayUser),
})
const RelaySessionList: z.ZodType<RelaySessionList> = z.looseObject({
  sessions: z.array(RelaySession),
  pagination: maybe(Pagination),
})

const CreateRelaySession: z.ZodType<CreateRelaySession> = z.strictObject({
  users: z.array(z.strictObject({ ip: ipAddress })).min(1),
  filters: z.array(FilterInput).optional(),
  webhook_url: httpUrl.optional(),
})
const NoInput: z.ZodType<Readonly<Record<string, never>>> = z.strictObject({})
const RelaySessionId: z.ZodType<RelaySessionId> = z.strictObject({ session_id: segment })
const AuthorizeRelayUser: z.ZodType<AuthorizeRelayUser> = z.strictObject({
  session_id: z.string().min(1),
  user_ip: ipAddress,
})
const RevokeRelayUser: z.ZodType<RevokeRelayUser> = z.strictObject({
  session_id: z.string().min(1),
  authorization_token: token,
})

/** The error answers of relay operations are not shown: those of create, get, authorize and revoke are public facts; list and delete are ours by analogy. */
export const relays = {
  create: operation('POST /v1/relays/sessions', {
    summary: 'Open a relay session for a set of users',
    input: CreateRelaySession,
    output: RelaySession,
    errors: [400, 401, 403, 500, 503],
  }),
  list: operation('GET /v1/relays/sessions', {
    summary: 'List active relay sessions',
    input: NoInput,
    output: RelaySessionList,
    errors: [401, 403],
  }),
  get: operation('GET /v1/relays/sessions/{session_id}', {
    summary: 'Read a relay session',
    input: RelaySessionId,
    output: RelaySession,
    errors: [401, 403, 404],
  }),
  delete: operation('DELETE /v1/relays/sessions/{session_id}', {
    summary: 'End a relay session',
    input: RelaySessionId,
    errors: [401, 403, 404],
  }),
  authorizeUser: operation('POST /v1/relays/sessions:authorize-user', {
    summary: 'Let one more user into a relay session',
    input: AuthorizeRelayUser,
    output: RelaySessionOfUser,
    errors: [400, 401, 403, 404, 409],
  }),
  revokeUser: operation('POST /v1/relays/sessions:revoke-user', {
    summary: 'Take a user out of a relay session',
    input: RevokeRelayUser,
    output: RelaySession,
    success: [200, 204],
    errors: [400, 401, 403, 404],
  }),
} as const
