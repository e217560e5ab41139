import { Conflict, ConnectionLost, InvalidInput, NotFound, ServerError } from '@muster/core'
import type { RelaySession as WireSession, RelayUser } from '@muster/core/api'
import { canonicalIp } from '@muster/core/internal'
import type { Clock, Random } from '@muster/core/clock'
import type { RelayService } from './sessions/session-context.js'

/** A fault of a call, or of the session that a create opens. */
export type Fault =
  /** The request is lost: it has no effect, and the connection breaks. */
  | 'request lost'
  /** The request has its effect, and the response is lost. */
  | 'response lost'
  /** The connection breaks, and the request has its effect seconds later. */
  | 'carried out late'
  | 'server error'
  /** The response is 409, without an effect. */
  | 'conflict'
  /** The response is 409 after the effect, as if an earlier request had caused it. */
  | 'conflict after the effect'
  /** The response is a success, without an effect. */
  | 'success without effect'
  | 'never ready'
  | 'in error'
  /** The session is `ready` without relay and tokens. */
  | 'without tokens'
  /** The session is `ready` without some of its users. */
  | 'too few users'
  /** The response has another user's token. */
  | 'token of another user'

export interface FaultRule {
  readonly operation: keyof RelayService
  readonly fault: Fault
  /** Probability from 0 to 1. Default 1. */
  readonly chance?: number
  /** Maximum number of times that the fault occurs. Default: no limit. */
  times?: number
}

export interface FakeServiceOptions {
  readonly clock: Clock
  readonly random: Random
  readonly faults?: readonly FaultRule[]
  /** Milliseconds from create to ready. Default 500. */
  readonly readyAfterMs?: number
  /** Maximum duration of a call in milliseconds. Default 0. */
  readonly latencyMs?: number
  /** Called once when a session is ready. */
  readonly onWebhook?: (url: string) => void
}

interface Stored {
  readonly id: string
  readonly token: number
  readonly users: { readonly ip_address: string; readonly authorization_token: number }[]
  readonly readyAt: number
  readonly webhookUrl: string | undefined
  readonly fate: Fault | undefined
}

export interface FakeService extends RelayService {
  /** Ids of the existing sessions. */
  readonly open: readonly string[]
  /** True if the relay would accept a peer with these tokens. */
  isValid(sessionToken: number, userToken: number): boolean
  readonly calls: Readonly<Record<keyof RelayService, number>>
  /** Replaces the faults. */
  setFaults(faults: readonly FaultRule[]): void
  /** Number of sessions opened so far. */
  readonly opened: number
}

const LATE_MS = 3000

/** Creates the service's relay operations in memory, on a given clock and with declared faults. */
export function createFakeService({
  clock,
  random,
  faults: initial = [],
  readyAfterMs = 500,
  latencyMs = 0,
  onWebhook,
}: FakeServiceOptions): FakeService {
  const sessions = new Map<string, Stored>()
  const calls = { create: 0, list: 0, get: 0, delete: 0, authorizeUser: 0, revokeUser: 0 }
  const given = new Set<number>()
  let faults = [...initial]
  let count = 0

  const newToken = (): number => {
    // Tokens may exceed the signed 32-bit range.
    const token = Math.floor(random() * 2 ** 32)
    if (given.has(token)) return newToken()
    given.add(token)
    return token
  }
  const draw = (operation: keyof RelayService, among: readonly Fault[]): Fault | undefined => {
    const rule = faults.find(
      (one) =>
        one.operation === operation && among.includes(one.fault) && one.times !== 0 && random() < (one.chance ?? 1),
    )
    if (rule?.times !== undefined) rule.times -= 1
    return rule?.fault
  }

  /** Runs `effect` unless a fault prevents it. */
  const call = async <T>(operation: keyof RelayService, effect: () => T, pretend?: () => T): Promise<T> => {
    calls[operation] += 1
    if (latencyMs > 0) await clock.sleep(latencyMs * random())
    const fault = draw(operation, [
      'request lost',
      'response lost',
      'carried out late',
      'server error',
      'conflict',
      'conflict after the effect',
      'success without effect',
    ])
    const facts = { operation: `relays.${operation}` }
    switch (fault) {
      case undefined:
        return effect()
      case 'success without effect':
        return (pretend ?? effect)()
      case 'response lost':
      case 'conflict after the effect':
        effect()
        break
      case 'carried out late':
        void clock
          .sleep(LATE_MS)
          .then(effect)
          .catch(() => {})
        break
      default:
    }
    if (fault === 'server error') throw new ServerError('the service failed', { ...facts, status: 500 })
    if (fault.startsWith('conflict')) throw new Conflict('conflict', { ...facts, status: 409 })
    throw new ConnectionLost('the connection broke', { ...facts, sent: true })
  }

  const find = (id: string): Stored => {
    const stored = sessions.get(id)
    if (stored === undefined) throw new NotFound('no such session', { status: 404 })
    return stored
  }
  const view = (stored: Stored): WireSession => {
    const { id, token, users, fate } = stored
    const ready = clock.now() >= stored.readyAt && fate !== 'never ready' && fate !== 'in error'
    const hasTokens = ready && fate !== 'without tokens'
    return {
      session_id: id,
      // A misleading status, which must be ignored.
      status: ready ? 'Initializing' : 'READY',
      ready,
      linked: ready,
      error: fate === 'in error' && clock.now() >= stored.readyAt ? 'no relay could be found' : null,
      authorization_token: hasTokens ? token : null,
      session_users: hasTokens ? users.slice(fate === 'too few users' ? 1 : 0).toReversed() : [],
      relay: hasTokens
        ? {
            ip: '203.0.113.7',
            host: 'relay.example',
            ports: {
              server: { port: 4001, protocol: 'UDP', link: 'relay.example:4001' },
              client: { port: 4002, protocol: 'UDP', link: 'relay.example:4002' },
            },
          }
        : null,
      webhook_url: stored.webhookUrl ?? null,
    }
  }
  const addUser = (stored: Stored, ip: string): RelayUser => {
    const user = { ip_address: canonicalIp(ip) ?? ip, authorization_token: newToken() }
    stored.users.push(user)
    return user
  }

  return {
    get open() {
      return [...sessions.keys()]
    },
    get opened() {
      return count
    },
    calls,
    isValid: (sessionToken, userToken) =>
      [...sessions.values()].some(
        ({ token, users }) => token === sessionToken && users.some((user) => user.authorization_token === userToken),
      ),
    setFaults: (next) => {
      faults = [...next]
    },
    create: ({ users, webhook_url }) =>
      call('create', () => {
        if (users.length === 0) throw new InvalidInput('users', { status: 400 })
        count += 1
        const fate = draw('create', ['never ready', 'in error', 'without tokens', 'too few users'])
        const stored: Stored = {
          id: `session-${count}`,
          token: newToken(),
          users: [],
          readyAt: clock.now() + readyAfterMs,
          webhookUrl: webhook_url,
          fate,
        }
        for (const { ip } of users) addUser(stored, ip)
        sessions.set(stored.id, stored)
        if (webhook_url !== undefined && onWebhook !== undefined)
          void clock.sleep(readyAfterMs).then(() => onWebhook(webhook_url))
        return view(stored)
      }),
    list: () =>
      call('list', () => ({
        sessions: Array.from(sessions.values(), view),
        pagination: { number: 1, has_next: false },
      })),
    get: ({ session_id }) => call('get', () => view(find(session_id))),
    delete: ({ session_id }) =>
      call('delete', () => {
        find(session_id)
        sessions.delete(session_id)
        return undefined
      }),
    authorizeUser: ({ session_id, user_ip }) =>
      call('authorizeUser', () => {
        const stored = sessions.get(session_id)
        // A public deployment has no 404 for this operation (live fact).
        if (stored === undefined) throw new InvalidInput('no such session', { status: 400 })
        const other = stored.users.at(0)
        const user = addUser(stored, user_ip)
        const wrong = other !== undefined && draw('authorizeUser', ['token of another user']) !== undefined
        const { session_users: _, ...rest } = view(stored)
        return { ...rest, session_user: wrong ? { ...user, authorization_token: other.authorization_token } : user }
      }),
    revokeUser: ({ session_id, authorization_token }) =>
      call(
        'revokeUser',
        () => {
          const stored = find(session_id)
          const index = stored.users.findIndex((user) => user.authorization_token === authorization_token)
          if (index === -1) throw new NotFound('no such user', { status: 404 })
          stored.users.splice(index, 1)
          return view(stored)
        },
        () => view(find(session_id)),
      ),
  }
}
