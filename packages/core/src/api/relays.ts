import { z } from 'zod'
import { operation } from '../operation.js'
import {
  answer,
  type Counted,
  counted,
  Filter,
  flag,
  httpUrl,
  input,
  integer,
  ipAddress,
  maybe,
  type Maybe,
  numberOrText,
  PageInput,
  segment,
  text,
} from './fields.js'

/** A user of a relay session. The token is a secret that only this user may know. */
export interface RelayUser {
  /** The user's public address. */
  readonly ip_address?: Maybe<string>
  /** Latitude in degrees. */
  readonly latitude?: Maybe<number>
  /** Longitude in degrees. */
  readonly longitude?: Maybe<number>
  /** The user's own token, unsigned 32-bit (public fact). A secret. */
  readonly authorization_token?: Maybe<number>
}

/** One of a relay's two ports. */
export interface RelayPort {
  /** The port's number. */
  readonly port?: Maybe<number>
  /** The values of `protocol` are not documented; UDP in the emulator. */
  readonly protocol?: Maybe<string>
  /** The form of a link is not documented; `host:port` in the emulator. */
  readonly link?: Maybe<string>
}

/** The relay to which the peers of a session send their traffic. */
export interface Relay {
  /** The relay's public address. */
  readonly ip?: Maybe<string>
  /** The relay's name. */
  readonly host?: Maybe<string>
  /** The relay's two ports. Each peer uses one of them. */
  readonly ports?: Maybe<{
    /** The port of the hosting peer (public fact). */
    readonly server?: Maybe<RelayPort>
    /** The port of the other peers (public fact). */
    readonly client?: Maybe<RelayPort>
  }>
}

/** A session whose relay passes traffic between a set of users (service-api, Relay session). */
export interface RelaySession {
  /** Identifies the session. */
  readonly session_id: string
  /** The session's own token, unsigned 32-bit; null until the session is ready (public facts). A secret. */
  readonly authorization_token?: Maybe<number>
  /**
   * Status of the session; the specification's sample has READY. Read `ready`, `error` and the tokens instead of it.
   */
  readonly status?: Maybe<string>
  /** Whether the peers can connect. */
  readonly ready?: Maybe<boolean>
  /** Whether a relay is linked to the session. */
  readonly linked?: Maybe<boolean>
  /** Why the session failed. */
  readonly error?: Maybe<string>
  /** All users of the session, each with a token; may be empty until the session is ready (public fact). */
  readonly session_users?: Maybe<readonly RelayUser[]>
  /** The relay of the session; null until the session is ready (public fact). */
  readonly relay?: Maybe<Relay>
  /** The URL given at the creation. */
  readonly webhook_url?: Maybe<string>
}

/** The response of authorize-user: one `session_user` instead of `session_users`. */
export interface RelaySessionOfUser extends Omit<RelaySession, 'session_users'> {
  /** The authorized user. */
  readonly session_user?: Maybe<RelayUser>
}

/**
 * The session to create. The specification does not say which fields are required. At least one user is required by our
 * choice.
 */
export interface CreateRelaySession {
  /** The users who may use the session. */
  readonly users: readonly {
    /** The user's public address. */
    readonly ip: string
  }[]
  /** The allowed locations of the relay. */
  readonly filters?: readonly Filter[] | undefined
  /** URL to which the service POSTs the session's data once, when the session is ready (public fact, unsure). */
  readonly webhook_url?: string | undefined
}

/** Names a relay session. */
export interface RelaySessionId {
  /** The session's id. */
  readonly session_id: string
}

/** A user to add to a session. */
export interface AuthorizeRelayUser extends RelaySessionId {
  /** The user's public address. */
  readonly user_ip: string
}

/** A user to remove from a session. */
export interface RevokeRelayUser extends RelaySessionId {
  /** The user's token, not the session's. A secret. */
  readonly authorization_token: number
}

/** The active relay sessions. */
export interface RelaySessionList extends Counted {
  /** The entries of this page. */
  readonly sessions: readonly RelaySession[]
}

const token = z.int().min(0).max(0xffff_ffff)

export const RelayUser = answer<RelayUser>('RelayUser', {
  ip_address: maybe(text),
  latitude: maybe(numberOrText),
  longitude: maybe(numberOrText),
  authorization_token: maybe(integer),
})
const RelayPort = answer<RelayPort>('RelayPort', { port: maybe(integer), protocol: maybe(text), link: maybe(text) })
const Relay = answer<Relay>('Relay', {
  ip: maybe(text),
  host: maybe(text),
  ports: maybe(z.looseObject({ server: maybe(RelayPort), client: maybe(RelayPort) })),
})
const sessionFields = {
  session_id: z.string().min(1),
  authorization_token: maybe(integer),
  status: maybe(text),
  ready: maybe(flag),
  linked: maybe(flag),
  error: maybe(text),
  relay: maybe(Relay),
  webhook_url: maybe(text),
}
export const RelaySession = answer<RelaySession>('RelaySession', {
  ...sessionFields,
  session_users: maybe(z.array(RelayUser)),
})
export const RelaySessionOfUser = answer<RelaySessionOfUser>('RelaySessionOfUser', {
  ...sessionFields,
  session_user: maybe(RelayUser),
})
const RelaySessionList = answer<RelaySessionList>('RelaySessionList', {
  sessions: z.array(RelaySession),
  ...counted,
})

const CreateRelaySession = input<CreateRelaySession>('CreateRelaySession', {
  users: z.array(z.strictObject({ ip: ipAddress })).min(1),
  filters: z.array(Filter).optional(),
  webhook_url: httpUrl.optional(),
})
const RelaySessionId = input<RelaySessionId>('RelaySessionId', { session_id: segment })
const AuthorizeRelayUser = input<AuthorizeRelayUser>('AuthorizeRelayUser', {
  session_id: z.string().min(1),
  user_ip: ipAddress,
})
const RevokeRelayUser = input<RevokeRelayUser>('RevokeRelayUser', {
  session_id: z.string().min(1),
  authorization_token: token,
})

/**
 * The error responses of relay operations are not documented. Those of create, get, authorize and revoke are public
 * facts. Those of list and delete are our choice, by analogy.
 */
export const relays = {
  /**
   * Open a relay session for a set of users.
   * Route: `POST /v1/relays/sessions`.
   * Limit: none documented. Errors: `Forbidden` (403), `ServerError` (503).
   * The session is ready later. Read it until `ready` is true.
   * Source: service-api, Relay sessions; errors: public fact, required fields: our choice.
   */
  create: operation('POST /v1/relays/sessions', {
    summary: 'Open a relay session for a set of users',
    input: CreateRelaySession,
    output: RelaySession,
    errors: [400, 401, 403, 500, 503],
  }),
  /**
   * List active relay sessions.
   * Route: `GET /v1/relays/sessions`.
   * Limit: none documented. Errors: `Forbidden` (403).
   * Source: service-api, Relay sessions; errors: our choice.
   */
  list: operation('GET /v1/relays/sessions', {
    summary: 'List active relay sessions',
    input: PageInput,
    output: RelaySessionList,
    errors: [401, 403],
    items: 'sessions',
  }),
  /**
   * Read a relay session.
   * Route: `GET /v1/relays/sessions/{session_id}`.
   * Limit: none documented. Errors: `Forbidden` (403), `NotFound` (404).
   * Source: service-api, Relay sessions; errors: public fact.
   */
  get: operation('GET /v1/relays/sessions/{session_id}', {
    summary: 'Read a relay session',
    input: RelaySessionId,
    output: RelaySession,
    errors: [401, 403, 404],
  }),
  /**
   * End a relay session.
   * Route: `DELETE /v1/relays/sessions/{session_id}`.
   * Limit: none documented. Errors: `Forbidden` (403), `NotFound` (404).
   * Source: service-api, Relay sessions; errors: our choice.
   */
  delete: operation('DELETE /v1/relays/sessions/{session_id}', {
    summary: 'End a relay session',
    input: RelaySessionId,
    errors: [401, 403, 404],
  }),
  /**
   * Let one more user into a relay session.
   * Route: `POST /v1/relays/sessions:authorize-user`.
   * Limit: none documented. Errors: `Forbidden` (403), `NotFound` (404), `Conflict` (409).
   * Source: service-api, Relay sessions; errors: public fact.
   */
  authorizeUser: operation('POST /v1/relays/sessions:authorize-user', {
    summary: 'Let one more user into a relay session',
    input: AuthorizeRelayUser,
    output: RelaySessionOfUser,
    errors: [400, 401, 403, 404, 409],
  }),
  /**
   * Take a user out of a relay session.
   * Route: `POST /v1/relays/sessions:revoke-user`.
   * Limit: none documented. Errors: `Forbidden` (403), `NotFound` (404).
   * Source: service-api, Relay sessions; errors: public fact.
   */
  revokeUser: operation('POST /v1/relays/sessions:revoke-user', {
    summary: 'Take a user out of a relay session',
    input: RevokeRelayUser,
    output: RelaySession,
    success: [200, 204],
    errors: [400, 401, 403, 404],
  }),
} as const
