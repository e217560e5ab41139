// pure: what the service said of a session
import {
  canonicalIp,
  type RelayPort as WirePort,
  type RelaySession as WireSession,
  type RelaySessionOfUser,
  type RelayUser,
} from '@muster/core/api'
import type { RelayLink, RelayPort } from './session.js'

/** A user of a session at the service: known by address alone. */
export interface SessionUser {
  readonly ip: string
  readonly token: number
}

/** The two shapes in which the service describes a session, as one. What is unusable in them is left out. */
export interface Reading {
  readonly id: string
  /** As the service says; whether it can be used is another question. */
  readonly ready: boolean
  readonly failed: boolean
  /** Complete, or undefined. */
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
