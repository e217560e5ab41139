import type { ManualClock } from '@muster/core/clock'
import { onTestFinished } from 'vitest'
import { started } from '../emulator.fixture.js'
import type { EmulatorOptions } from '../options.js'
import { type ClientPeer, createPeer, type HostPeer, type PeerOptions, type PeerRole, type PeerState } from './peer.js'

interface Port {
  readonly port: number
  readonly protocol: string
  readonly link: string
}

export interface Session {
  readonly session_id: string
  readonly authorization_token: number
  readonly session_users: readonly { readonly ip_address: string; readonly authorization_token: number }[]
  readonly session_user: { readonly ip_address: string; readonly authorization_token: number }
  readonly relay: {
    readonly ip: string
    readonly host: string
    readonly ports: { readonly server: Port; readonly client: Port }
  }
}

const READY_MS = 1500

/** An emulator on a manual clock whose relay carries packets, with helpers for sessions and peers. */
export function relayed(options: EmulatorOptions = {}) {
  const { clock, emulator, call } = started({ relayData: true, relays: { readyMs: READY_MS }, ...options })
  onTestFinished(() => emulator.close())
  const path = '/v1/relays/sessions'

  const open = async (ips: readonly string[]): Promise<Session> => {
    const { body } = await call('POST', path, { users: ips.map((ip) => ({ ip })) })
    await clock.advance(READY_MS)
    return (await call('GET', `${path}/${(body as Session).session_id}`)).body as Session
  }
  const authorize = async ({ session_id }: Session, user_ip: string) =>
    ((await call('POST', `${path}:authorize-user`, { session_id, user_ip })).body as Session).session_user
      .authorization_token
  const revoke = ({ session_id }: Session, authorization_token: number) =>
    call('POST', `${path}:revoke-user`, { session_id, authorization_token })
  const end = ({ session_id }: Session) => call('DELETE', `${path}/${session_id}`)

  const optionsOf = <Role extends PeerRole>(
    session: Session,
    userToken: number | undefined,
    role: Role,
  ): PeerOptions & { readonly role: Role } => ({
    host: session.relay.ip,
    port: session.relay.ports[role === 'host' ? 'server' : 'client'].port,
    role,
    userToken: userToken ?? Number.NaN,
    sessionToken: session.authorization_token,
    clock,
  })
  const hostOf = (session: Session, userToken = session.session_users[0]?.authorization_token): HostPeer =>
    closing(createPeer(optionsOf(session, userToken, 'host')))
  const clientOf = (session: Session, userToken: number | undefined): ClientPeer =>
    closing(createPeer(optionsOf(session, userToken, 'client')))

  return { clock, emulator, call, open, authorize, revoke, end, hostOf, clientOf, optionsOf }
}

function closing<Peer extends { close(): void }>(peer: Peer): Peer {
  onTestFinished(() => peer.close())
  return peer
}

/** Resolves with the next `count` messages. */
export function messages<Message>(
  peer: { onMessage(listener: (message: Message) => void): () => void },
  count: number,
): Promise<readonly Message[]> {
  return new Promise((resolve) => {
    const heard: Message[] = []
    const stop = peer.onMessage((message) => {
      heard.push(message)
      if (heard.length < count) return
      stop()
      resolve(heard)
    })
  })
}

/** Resolves when the peer reaches the state. */
export function becomes(
  peer: { readonly state: PeerState; onState(listener: (state: PeerState) => void): () => void },
  state: PeerState,
): Promise<void> {
  return new Promise((resolve) => {
    if (peer.state === state) return resolve()
    const stop = peer.onState((next) => {
      if (next !== state) return
      stop()
      resolve()
    })
  })
}

/** The error with which a promise rejects. */
export const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )

const TURNS = 100_000

/**
 * Resolves when the condition holds, for conditions without an event. It polls once per turn of the event loop, in
 * which packets arrive, and does not advance the clock.
 */
export async function eventually(condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) {
    if (condition()) return
    await new Promise((resolve) => setImmediate(resolve))
  }
  throw new Error(`this condition did not become true: ${String(condition)}`)
}

/** Advances the clock in steps of one ping interval, so that every ping is answered before the next. */
export async function pass(clock: ManualClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 500) await clock.advance(500)
}
