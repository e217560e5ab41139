import { isIPv6 } from 'node:net'
import type { Coordinates, RelaySession, RelaySessionOfUser, RelayUser } from '@muster/core/api'
import type { RelayLine } from '../relay-data/relay-data.js'
import type { RelayAddress } from './relay-ports.js'

/** What the emulator remembers about a relay session. */
export interface RelaySessionRecord {
  readonly id: string
  /** Unsigned 32-bit; a secret. */
  readonly token: number
  readonly webhookUrl: string | undefined
  /** In the order in which they came. Two behind one address are two users. */
  readonly users: RelayUserRecord[]
  readonly address: RelayAddress
  /** What carries its packets; undefined where nothing does. */
  readonly line: RelayLine | undefined
  /** Each user is shown with the token of the next, by a declared fault. */
  readonly tokensOfOthers: boolean
  state: 'initializing' | 'ready' | 'ready without tokens'
}

export interface RelayUserRecord {
  readonly ip: string
  readonly coordinates: Coordinates
  /** Unsigned 32-bit; a secret of this user. */
  readonly token: number
}

/** @param readyStatus the word that the service uses for a session that is ready. */
export function relaySessionView(session: RelaySessionRecord, readyStatus: string): RelaySession {
  const common = commonView(session, readyStatus)
  return {
    ...common,
    session_users: session.state === 'initializing' ? [] : session.users.map((user) => userView(session, user)),
  }
}

/** The same with one user in place of all, as authorize answers. */
export const relaySessionOfUserView = (
  session: RelaySessionRecord,
  user: RelayUserRecord,
  readyStatus: string,
): RelaySessionOfUser => ({
  ...commonView(session, readyStatus),
  session_user: userView(session, user),
})

/** Until the session is ready there are no tokens, no relay and no users (public fact). */
function commonView({ id, token, state, address, webhookUrl }: RelaySessionRecord, readyStatus: string) {
  const ready = state !== 'initializing'
  const host = isIPv6(address.host) ? `[${address.host}]` : address.host
  const port = (number: number) => ({ port: number, protocol: 'UDP', link: `${host}:${number}` })
  return {
    session_id: id,
    authorization_token: state === 'ready' ? token : null,
    status: ready ? readyStatus : 'Initializing',
    ready,
    linked: ready,
    error: null,
    relay: ready
      ? {
          ip: address.ip,
          host: address.host,
          ports: { server: port(address.serverPort), client: port(address.clientPort) },
        }
      : null,
    webhook_url: webhookUrl ?? null,
  } satisfies RelaySession
}

const userView = (session: RelaySessionRecord, user: RelayUserRecord): RelayUser => ({
  ip_address: user.ip,
  latitude: user.coordinates.latitude,
  longitude: user.coordinates.longitude,
  authorization_token: session.state === 'ready' ? shownToken(session, user) : null,
})

function shownToken({ users, tokensOfOthers }: RelaySessionRecord, user: RelayUserRecord): number {
  const next = users[(users.indexOf(user) + 1) % users.length]
  return tokensOfOthers && next !== undefined ? next.token : user.token
}
