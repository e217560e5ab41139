import { isIPv6 } from 'node:net'
import type { RelaySession, RelaySessionOfUser, RelayUser } from '@muster/core/api'
import type { Coordinates } from '@muster/core/internal'
import { createPortPool } from '../deployments/index.js'
import { type Place, places } from '../places.js'
import type { RelayLine } from './udp-relay.js'

/** The emulator's record of a relay session. */
export interface RelaySessionRecord {
  readonly id: string
  /** The session's token, an unsigned 32-bit number. It is secret. */
  readonly token: number
  readonly webhookUrl: string | undefined
  /** The users, in the order of authorization. Two users may have the same address. */
  readonly users: RelayUserRecord[]
  readonly address: RelayAddress
  /** The session on the relay that carries its packets; undefined if sessions carry no packets. */
  readonly line: RelayLine | undefined
  /** True with a declared fault: each user is shown with the next user's token. */
  readonly tokensOfOthers: boolean
  state: 'initializing' | 'ready' | 'ready without tokens'
}

export interface RelayUserRecord {
  readonly ip: string
  readonly coordinates: Coordinates
  /** The user's token, an unsigned 32-bit number. It is the user's secret. */
  readonly token: number
}

/**
 * Returns the service's view of the session.
 * @param readyStatus the status text that the service uses for a ready session.
 */
export function relaySessionView(session: RelaySessionRecord, readyStatus: string): RelaySession {
  const users = session.state === 'initializing' ? [] : session.users.map((user) => userView(session, user))
  return { ...commonView(session, readyStatus), session_users: users }
}

/** Returns the view with one user instead of all users, which is the response to authorize. */
export const relaySessionOfUserView = (
  session: RelaySessionRecord,
  user: RelayUserRecord,
  readyStatus: string,
): RelaySessionOfUser => ({ ...commonView(session, readyStatus), session_user: userView(session, user) })

/**
 * Returns the common fields of both views. Until the session is ready, it is shown without tokens, relay and users
 * (public fact).
 */
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

/** The address and ports to which the peers of one session send packets. */
export interface RelayAddress {
  readonly place: Place
  readonly ip: string
  readonly host: string
  /** The UDP port of the host peer. */
  readonly serverPort: number
  /** The UDP port of all other peers. */
  readonly clientPort: number
}

const RANGE = { from: 30_000, to: 59_999 }

/** Creates one relay for each location, at a documentation address (RFC 5737), where nothing listens. */
export function createRelayPorts() {
  const pools = new Map(
    places.map(({ id }, index) => [id, { pool: createPortPool(RANGE), ip: `192.0.2.${index + 1}` }]),
  )
  return {
    /** Takes two ports of the location's relay. Returns undefined if fewer than two are free. */
    take: (place: Place): RelayAddress | undefined => {
      const relay = pools.get(place.id)
      const [serverPort, clientPort] = relay?.pool.take(2) ?? []
      if (relay === undefined || serverPort === undefined || clientPort === undefined) return undefined
      return { place, ip: relay.ip, host: `relay-${place.id}.emulator.invalid`, serverPort, clientPort }
    },
    give: ({ place, serverPort, clientPort }: RelayAddress) => pools.get(place.id)?.pool.give([serverPort, clientPort]),
  }
}
