// pure: a session as the service describes it
import {
  canonicalIp,
  type RelayPort as WirePort,
  type RelaySession as WireSession,
  type RelaySessionOfUser,
  type RelayUser,
} from '@muster/core/api'
import type { RelayLink, RelayPort } from './session.js'

/** A user of a session, whom the service identifies by address alone. */
export interface SessionUser {
  readonly ip: string
  readonly token: number
}

/** The service describes a session in two shapes; this is the common form. Unusable parts are left out. */
export interface Reading {
  readonly id: string
  /** The service's `ready`. Whether the session can be used is decided in `opening.ts`. */
  readonly ready: boolean
  readonly failed: boolean
  /** The complete link; undefined if any part is missing. */
  readonly link: RelayLink | undefined
  readonly users: readonly SessionUser[]
  readonly webhookUrl: string | undefined
}

export function readingOf(session: WireSession | RelaySessionOfUser): Reading {
  const users =
    'session_user' in session ? [session.session_user] : 'session_users' in session ? session.session_users : []
  return {
    id: session.session_id,
    ready: session.ready === true,
    failed: (session.error ?? '') !== '',
    link: linkOf(session),
    users: (users ?? []).flatMap(userOf),
    webhookUrl: session.webhook_url ?? undefined,
  }
}

function userOf(user: RelayUser | null | undefined): SessionUser[] {
  const ip = canonicalIp(user?.ip_address ?? '')
  const token = user?.authorization_token
  return ip === undefined || typeof token !== 'number' ? [] : [{ ip, token }]
}

function linkOf({ authorization_token: token, relay }: WireSession | RelaySessionOfUser): RelayLink | undefined {
  const server = portOf(relay?.ports?.server)
  const client = portOf(relay?.ports?.client)
  const ip = relay?.ip ?? undefined
  const host = relay?.host ?? ip
  if (typeof token !== 'number' || host === undefined || host === '' || server === undefined || client === undefined)
    return undefined
  return { host, ip, server, client, token }
}

const portOf = (port: WirePort | null | undefined): RelayPort | undefined =>
  typeof port?.port === 'number'
    ? { port: port.port, protocol: port.protocol ?? 'UDP', link: port.link ?? undefined }
    : undefined
