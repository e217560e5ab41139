import type { RelaySession } from '@muster/core/api'
import { hex } from '../deployments/hex.js'
import { nearest } from '../deployments/nearest.js'
import { coordinatesOf } from '../deployments/user-coordinates.js'
import { sendDespite } from '../deployments/webhooks.js'
import { places, type Place } from '../places.js'
import type { RelayLine } from '../relay-data/relay-data.js'
import type { RelayDeps } from './relay-deps.js'
import { createRelayPorts, type RelayAddress } from './relay-ports.js'
import {
  relaySessionOfUserView,
  relaySessionView,
  type RelaySessionRecord,
  type RelayUserRecord,
} from './relay-session.js'
import type { RelayOrder, Relays } from './relays.js'
import { createTokenSource } from './token-source.js'

export function createRelays({ random, timers, settings, relayData, locate, webhooks }: RelayDeps): Relays {
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

  const freeId = () => {
    let id = hex(12, random)
    while (sessions.has(id)) id = hex(12, random)
    return id
  }

  const becomeReady = (session: RelaySessionRecord, { fault, webhookFault }: RelayOrder) => {
    // The session was deleted in the meantime.
    if (sessions.get(session.id) !== session) return
    session.state = fault === 'no tokens' ? 'ready without tokens' : 'ready'
    const { webhookUrl } = session
    if (webhookUrl !== undefined)
      calls.set(session, sendDespite(webhookFault, webhooks, timers, webhookUrl, view(session)))
  }

  /** Assigns the address to which peers send packets, and opens the relay that carries the packets. */
  const connect = async (place: Place, token: number, order: RelayOrder): Promise<Route | undefined> => {
    if (relayData === undefined) {
      const address = ports.take(place)
      return address && { address, line: undefined }
    }
    const line = await relayData.open({ token, fault: order.packetFault })
    if (line === undefined) return undefined
    const { serverPort, clientPort } = line
    return { address: { place, ip: relayData.ip, host: relayData.ip, serverPort, clientPort }, line }
  }

  const create = async (order: RelayOrder) => {
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
      id: freeId(),
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
    get: (id) => sessions.get(id),
    all: () => [...sessions.values()],

    authorize: (session, ip) => {
      const user = newUser(ip)
      session.users.push(user)
      session.line?.authorize(user)
      return user
    },

    revoke: (session, token) => {
      const index = session.users.findIndex((user) => user.token === token)
      if (index === -1) return false
      session.users.splice(index, 1)
      session.line?.revoke(token)
      tokens.give(token)
      return true
    },

    delete: async (session) => {
      sessions.delete(session.id)
      if (session.line === undefined) ports.give(session.address)
      for (const { token } of [session, ...session.users]) tokens.give(token)
      await session.line?.close()
    },

    view,
    viewOfUser: (session, user) => relaySessionOfUserView(session, user, settings.readyStatus),
    called: (session) => calls.get(session) ?? Promise.resolve(),
    list: () =>
      Array.from(sessions.values(), ({ id, state, users, line }) => ({
        session_id: id,
        ready: state !== 'initializing',
        users: users.length,
        connected: line?.connected() ?? 0,
      })),
    close: async () => relayData?.close(),
  }
}

interface Route {
  readonly address: RelayAddress
  readonly line: RelayLine | undefined
}

/** A forged webhook: what an attacker who knows the URL might post to receive all packets. */
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
