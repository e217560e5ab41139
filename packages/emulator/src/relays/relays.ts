import type { RelaySession } from '@muster/core/api'
import type { Random } from '@muster/core/clock'
import {
  coordinatesOf,
  type Locate,
  nearest,
  sendDespite,
  type WebhookFault,
  type Webhooks,
} from '../deployments/index.js'
import { type Place, places } from '../places.js'
import { freeId } from '../records.js'
import type { RelaySettings } from '../settings.js'
import type { Surroundings } from '../timers.js'
import type { PacketFault } from './bad-network.js'
import {
  createRelayPorts,
  relaySessionOfUserView,
  type RelaySessionRecord,
  relaySessionView,
  type RelayUserRecord,
} from './relay-session.js'
import type { RelayData } from './udp-relay.js'

interface RelayOrder {
  /** The users' IP addresses. The relay is chosen near them. */
  readonly users: readonly string[]
  /** Returns true for allowed locations. */
  readonly allows: (place: Place) => boolean
  readonly webhookUrl: string | undefined
  readonly fault: RelayFault | undefined
  readonly webhookFault: WebhookFault | undefined
  readonly packetFault: PacketFault | undefined
}

export type Relays = ReturnType<typeof createRelays>

export interface RelaySummary {
  readonly session_id: string
  readonly ready: boolean
  readonly users: number
  /** Number of users who are connected, judged by their packets; 0 if sessions carry no packets. */
  readonly connected: number
}

/** What the emulated relay sessions depend on. */
interface RelayDeps extends Pick<Surroundings, 'random' | 'timers'> {
  readonly settings: RelaySettings
  /** The relay that carries packets; undefined if sessions carry no packets. */
  readonly relayData: RelayData | undefined
  /** Returns the location of an IP address; undefined to simulate a location from the address. */
  readonly locate: Locate | undefined
  readonly webhooks: Webhooks
}

/**
 * A fault of a relay session:
 * - `never ready`: the session never becomes ready.
 * - `no tokens`: the session is shown as ready, but without tokens.
 * - `token of another`: each user is shown with the token of another user, if there is one.
 */
export type RelayFault = 'never ready' | 'no tokens' | 'token of another'

/**
 * Creates a source of tokens for sessions and users. Tokens are unsigned 32-bit numbers (public fact). Each differs
 * from all tokens in use.
 */
function createTokenSource(random: Random) {
  const used = new Set<number>()
  /** Draws a token. It is never 0, because programs take 0 for a missing token. */
  const draw = () => 1 + Math.floor(random() * 0xffff_ffff)
  return {
    take: () => {
      let token = draw()
      while (used.has(token)) token = draw()
      used.add(token)
      return token
    },
    give: (token: number) => void used.delete(token),
  }
}

/** Creates the part of the service that `api.relays` uses. */
export function createRelays({ random, timers, settings, relayData, locate, webhooks }: RelayDeps) {
  const sessions = new Map<string, RelaySessionRecord>()
  const ports = createRelayPorts()
  const tokens = createTokenSource(random)
  const calls = new WeakMap<RelaySessionRecord, Promise<void>>()

  const view = (session: RelaySessionRecord) => relaySessionView(session, settings.readyStatus)

  const newUser = (ip: string): RelayUserRecord => ({
    ip,
    coordinates: coordinatesOf(ip, locate),
    token: tokens.take(),
  })

  const becomeReady = (session: RelaySessionRecord, { fault, webhookFault }: RelayOrder) => {
    // The session may have been deleted meanwhile.
    if (sessions.get(session.id) !== session) return
    session.state = fault === 'no tokens' ? 'ready without tokens' : 'ready'
    const { webhookUrl } = session
    if (webhookUrl !== undefined)
      calls.set(session, sendDespite(webhookFault, webhooks, timers, webhookUrl, view(session)))
  }

  /** Assigns the address to which peers send packets. Opens the relay if sessions carry packets. */
  const connect = async (
    place: Place,
    token: number,
    order: RelayOrder,
  ): Promise<Pick<RelaySessionRecord, 'address' | 'line'> | undefined> => {
    if (relayData === undefined) {
      const address = ports.take(place)
      return address && { address, line: undefined }
    }
    const line = await relayData.open({ token, fault: order.packetFault })
    if (line === undefined) return undefined
    const { serverPort, clientPort } = line
    return { address: { place, ip: relayData.ip, host: relayData.ip, serverPort, clientPort }, line }
  }

  /** Creates a session. Resolves with undefined if no allowed relay has free ports. */
  const create = async (order: RelayOrder): Promise<RelaySessionRecord | undefined> => {
    const users = order.users.map(newUser)
    const token = tokens.take()
    const where = users.map(({ coordinates }) => coordinates)
    const place = nearest(places.filter(order.allows), where)
    const route = place && (await connect(place, token, order))
    if (route === undefined) {
      for (const taken of [token, ...users.map((user) => user.token)]) tokens.give(taken)
      return undefined
    }
    for (const user of users) route.line?.authorize(user)
    const { webhookUrl } = order
    const session: RelaySessionRecord = {
      id: freeId((id) => sessions.has(id), random),
      token,
      webhookUrl,
      users,
      ...route,
      tokensOfOthers: order.fault === 'token of another',
      state: 'initializing',
    }
    sessions.set(session.id, session)
    if (order.webhookFault === 'forged' && webhookUrl !== undefined)
      void webhooks.send(webhookUrl, forged(view(session)))
    if (order.fault === 'never ready') return session
    if (order.webhookFault === 'early') becomeReady(session, order)
    else timers.after(settings.readyMs, () => becomeReady(session, order))
    return session
  }

  return {
    create,
    get: (id: string) => sessions.get(id),
    /** Returns all sessions that have not been deleted, the oldest first. */
    all: (): readonly RelaySessionRecord[] => [...sessions.values()],

    /** Adds a user with its own token, even if another user has the same address. */
    authorize: (session: RelaySessionRecord, ip: string) => {
      const user = newUser(ip)
      session.users.push(user)
      session.line?.authorize(user)
      return user
    },

    /** Removes the user who has the token. Returns false if there is none. */
    revoke: (session: RelaySessionRecord, token: number) => {
      const index = session.users.findIndex((user) => user.token === token)
      if (index === -1) return false
      session.users.splice(index, 1)
      session.line?.revoke(token)
      tokens.give(token)
      return true
    },

    /** Deletes the session. Resolves once its ports are free. */
    delete: async (session: RelaySessionRecord) => {
      sessions.delete(session.id)
      if (session.line === undefined) ports.give(session.address)
      for (const { token } of [session, ...session.users]) tokens.give(token)
      await session.line?.close()
    },

    view,
    viewOfUser: (session: RelaySessionRecord, user: RelayUserRecord) =>
      relaySessionOfUserView(session, user, settings.readyStatus),
    /** Resolves once the started calls of the session's webhook are over. */
    called: (session: RelaySessionRecord) => calls.get(session) ?? Promise.resolve(),
    /** Returns summaries of all sessions, without tokens. */
    list: (): readonly RelaySummary[] =>
      Array.from(sessions.values(), ({ id, state, users, line }) => ({
        session_id: id,
        ready: state !== 'initializing',
        users: users.length,
        connected: line?.connected() ?? 0,
      })),
    close: async () => relayData?.close(),
  }
}

/** Returns a forged webhook body: what an attacker who knows the URL could post to receive all packets. */
const forged = (view: RelaySession): RelaySession => ({
  ...view,
  status: 'READY',
  ready: true,
  linked: true,
  authorization_token: 4_294_967_295,
  session_users: [],
  relay: {
    ip: '203.0.113.254',
    host: 'forged.emulator.invalid',
    ports: {
      server: { port: 31_337, protocol: 'UDP', link: 'forged.emulator.invalid:31337' },
      client: { port: 31_338, protocol: 'UDP', link: 'forged.emulator.invalid:31338' },
    },
  },
})
