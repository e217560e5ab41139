import * as core from '@muster/core'
import { scrub } from '@muster/core/internal'
import * as matchmaker from '@muster/matchmaker'
import type { PresenceReport } from '@muster/matchmaker'
import type { Leader } from '@muster/matchmaker/internal'

/**
 * What the answer to a command promises:
 * - `read`: nothing but that it is true at that moment, and not of something that may still be lost.
 * - `kept`: what the command did is stored, so that every later leader continues from it. The answer is stored too: in
 *   the same commit if the command is answered at once, else in a later one. A later leader repeats a stored answer.
 *   Without one, it does the command again.
 * - `level`: that what the command did is stored before it is answered. Its caller says its whole state again and
 *   again, so it is not repeated to a later leader.
 * - `hint`: nothing. What it is about is found out anyway, only later.
 */
export const PROMISES = {
  acceptMatch: 'kept',
  declineMatch: 'kept',
  playersLeft: 'kept',
  stopMatch: 'kept',
  createBackfill: 'kept',
  updateBackfill: 'kept',
  cancelBackfill: 'kept',
  forgive: 'kept',
  drainServer: 'kept',
  releaseSeat: 'kept',
  startServer: 'kept',
  stopServer: 'kept',
  revokeEnrolment: 'kept',
  pauseQueue: 'kept',
  resumeQueue: 'kept',
  pausePool: 'kept',
  repeatResult: 'kept',
  dropResult: 'kept',
  explain: 'read',
  isServerSecret: 'read',
  isSecretOf: 'read',
  registerServer: 'read',
  isEnrolmentKey: 'read',
  enrolServer: 'level',
  reportServer: 'level',
  waitForServerOrders: 'read',
  listedServers: 'read',
  holdSeats: 'read',
  followSeat: 'read',
  seatsOf: 'read',
  getBackfill: 'read',
  inspect: 'read',
  resultsSetAside: 'read',
  longestWaiting: 'read',
  cooldownsOf: 'read',
  learnedWaits: 'read',
  serverReady: 'hint',
  playerCame: 'hint',
  notePresence: 'hint',
  hint: 'hint',
  webhook: 'hint',
} as const satisfies Readonly<Partial<Record<keyof Leader, 'read' | 'kept' | 'level' | 'hint'>>>

/** The commands that a follower sends to the leader: methods of the matchmaker. */
export type Command = keyof typeof PROMISES

interface PackedInputs {
  /** Instead of a request. */
  readonly webhook: readonly [path: string, body: string]
  readonly notePresence: readonly [reports: readonly PackedPresence[]]
}

/** What a command takes: as the method of its name, except for what is packed. */
export type Input<Name extends Command> = Name extends keyof PackedInputs
  ? PackedInputs[Name]
  : Parameters<Leader[Name]>

/** What a command answers: as the method of its name, but the status of a webhook's answer. */
export type Answer<Name extends Command> = Name extends 'webhook' ? number : Awaited<ReturnType<Leader[Name]>>

/**
 * An RPC request. The leader does each id once; a follower repeats an RPC request, under its id, until it is answered:
 * the leader may have changed in between. The new leader answers a `kept` command with the stored answer, if there is
 * one.
 */
export interface RpcRequest {
  readonly id: string
  /**
   * Whether the request was sent before, so that there may be an answer already. Always present, so that a retry has
   * the same length.
   */
  readonly again: boolean
  /** Name of the follower that waits for the answer. The JSON key is `front`. */
  readonly front: string
  readonly command: Command
  readonly input: readonly unknown[]
}

export type RpcReply =
  { readonly id: string; readonly answer: unknown } | { readonly id: string; readonly error: EncodedError }

interface EncodedError {
  readonly name: string
  readonly message: string
  /** Further properties, e.g. `field`. */
  readonly facts: Readonly<Record<string, unknown>>
}

/**
 * What a leader tells a follower without being asked: the orders of a game server that reported there last have another
 * version. A follower of an earlier version takes it for a reply that nobody waits for.
 */
export interface OrdersNotice {
  /** See `serverIn`. */
  readonly server: string
  readonly version: number
}

/** What names a server in a notice: the credential in its token, which is no secret. */
export const serverIn = (token: string): string => token.slice(0, Math.max(0, token.indexOf('.')))

export const encodeNotice = ({ server, version }: OrdersNotice): string =>
  JSON.stringify({ id: '', orders: [server, version] })

/** Undefined for any other message. */
export function decodeNotice(text: string): OrdersNotice | undefined {
  if (!text.startsWith('{"id":"","orders":')) return undefined
  const { orders } = (parsed(text) ?? {}) as { readonly orders?: unknown }
  if (!Array.isArray(orders)) return undefined
  const [server, version] = orders as readonly unknown[]
  return typeof server === 'string' && typeof version === 'number' ? { server, version } : undefined
}

export const encode = (message: RpcRequest | RpcReply): string => JSON.stringify(message)

/** The first characters of the reply to an RPC request, whatever it is. */
export const beginningOf = (id: string): string => JSON.stringify({ id }).slice(0, -1)

/** Undefined for an unreadable message, e.g. of another version. */
export function decodeRequest(text: string): RpcRequest | undefined {
  const ask = parsed(text) as Partial<RpcRequest> | undefined
  const fits = typeof ask?.id === 'string' && typeof ask.front === 'string' && Array.isArray(ask.input)
  return fits && typeof ask.command === 'string' ? (ask as RpcRequest) : undefined
}

export function decodeReply(text: string): RpcReply | undefined {
  const reply = parsed(text) as Partial<RpcReply> | undefined
  return typeof reply?.id === 'string' ? (reply as RpcReply) : undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) ?? undefined
  } catch {
    return undefined
  }
}

/** The id of a ticket whose players are all there, or with one player of it. */
export type PackedPresence = string | readonly [ticketId: string, playerId: string]

export const packPresence = ({ ticketId, playerId }: PresenceReport): PackedPresence =>
  playerId === undefined ? ticketId : [ticketId, playerId]

export const unpackPresence = (packed: PackedPresence): PresenceReport =>
  typeof packed === 'string' ? { ticketId: packed } : { ticketId: packed[0], playerId: packed[1] }

const { MusterError } = core

/** The errors that a leader's answers to followers may be, by name. */
const CLASSES: ReadonlyMap<string, object> = new Map(
  [...Object.values<unknown>(core), ...Object.values<unknown>(matchmaker)].flatMap((one) =>
    typeof one === 'function' && one.prototype instanceof MusterError ? [[one.prototype.name, one.prototype]] : [],
  ),
)

/** Names on the wire of classes that were renamed: processes of an earlier version read and write these. */
const WIRE_NAMES: Readonly<Record<string, string>> = {
  AlreadyAssigned: 'TooLate',
  MatchNotRunning: 'NotRunning',
  BackfillVersionConflict: 'StaleBackfill',
  SendAborted: 'Withheld',
}
const NAMES: ReadonlyMap<string, string> = new Map(Object.entries(WIRE_NAMES).map(([name, wire]) => [wire, name]))

/** An error as JSON. Of an unexpected one, only its message is sent. */
export function encodeError(error: unknown): EncodedError {
  if (!(error instanceof MusterError)) return { name: 'MusterError', message: scrub(String(error)), facts: {} }
  const { name, message } = error
  return { name: WIRE_NAMES[name] ?? name, message, facts: Object.fromEntries(Object.entries(error)) }
}

/** The error again, of the class it had; an unknown one becomes a `MusterError`. */
export function decodeError({ name, message, facts }: EncodedError): core.MusterError {
  const error = new MusterError(message)
  const known = CLASSES.get(NAMES.get(name) ?? name)
  if (known !== undefined) Object.setPrototypeOf(error, known)
  return Object.assign(error, facts)
}
