import * as core from '@muster/core'
import { jsonIn, scrub } from '@muster/core/internal'
import * as matchmaker from '@muster/matchmaker'
import type { PresenceReport } from '@muster/matchmaker'
import type { LeaderCommandName, Leader } from '@muster/matchmaker/internal'

/** The commands that a follower sends to the leader: methods of the matchmaker. */
export type RpcCommand = LeaderCommandName

interface PackedInputs {
  /** The path and the body of the webhook, instead of a request. */
  readonly webhook: readonly [path: string, body: string]
  readonly notePresence: readonly [reports: readonly PackedPresence[]]
}

/** The input of a command: the parameters of the matchmaker's method of that name, except for packed inputs. */
export type RpcInput<Name extends RpcCommand> = Name extends keyof PackedInputs
  ? PackedInputs[Name]
  : Parameters<Leader[Name]>

/**
 * The result of a command: what the matchmaker's method of that name returns; for a webhook, the status of the
 * response.
 */
export type RpcAnswer<Name extends RpcCommand> = Name extends 'webhook' ? number : Awaited<ReturnType<Leader[Name]>>

/**
 * An RPC request. A leader executes an id once, except reads. A follower repeats an RPC request under its id until it
 * gets a reply, because the leader may have changed in between. A new leader replies to a `kept` command with the
 * stored reply, if there is one. It executes any other command again.
 */
export interface RpcRequest {
  readonly id: string
  /**
   * True if the request was sent before, so that there may be a reply already. Always present, so that a retry has the
   * same length.
   */
  readonly again: boolean
  /** Name of the follower that waits for the reply. The JSON key is `front`. */
  readonly front: string
  readonly command: RpcCommand
  readonly input: readonly unknown[]
}

export type RpcReply =
  | { readonly id: string; readonly answer: unknown }
  | { readonly id: string; readonly error: EncodedError }

interface EncodedError {
  readonly name: string
  readonly message: string
  /** Further properties, e.g. `field`. */
  readonly facts: Readonly<Record<string, unknown>>
}

/**
 * A leader's notice to a follower: the orders of a game server that last reported to that follower have another
 * version. A follower of an earlier version takes it for a reply that nothing waits for.
 */
export interface OrdersNotice {
  /** The server's name: see `serverIn`. */
  readonly server: string
  readonly version: number
}

/** Returns the server's name in a notice: the credential in its token, which is not a secret. */
export const serverIn = (token: string): string => token.slice(0, Math.max(0, token.indexOf('.')))

export const encodeNotice = ({ server, version }: OrdersNotice): string =>
  JSON.stringify({ id: '', orders: [server, version] })

/** Parses a notice. Undefined for any other message. */
export function decodeNotice(text: string): OrdersNotice | undefined {
  if (!text.startsWith('{"id":"","orders":')) return undefined
  const { orders } = (jsonIn(text) ?? {}) as { readonly orders?: unknown }
  if (!Array.isArray(orders)) return undefined
  const [server, version] = orders as readonly unknown[]
  return typeof server === 'string' && typeof version === 'number' ? { server, version } : undefined
}

export const encode = (message: RpcRequest | RpcReply): string => JSON.stringify(message)

/** Returns the characters with which every reply to this RPC request begins. */
export const beginningOf = (id: string): string => JSON.stringify({ id }).slice(0, -1)

/** Parses a request. Undefined for an unreadable message, e.g. of another version. */
export function decodeRequest(text: string): RpcRequest | undefined {
  const ask = jsonIn(text) as Partial<RpcRequest> | null | undefined
  const fits = typeof ask?.id === 'string' && typeof ask.front === 'string' && Array.isArray(ask.input)
  return fits && typeof ask.command === 'string' ? (ask as RpcRequest) : undefined
}

export function decodeReply(text: string): RpcReply | undefined {
  const reply = jsonIn(text) as Partial<RpcReply> | null | undefined
  return typeof reply?.id === 'string' ? (reply as RpcReply) : undefined
}

/** The id of a ticket if all of its players are present; otherwise the id, and a player who is present. */
export type PackedPresence = string | readonly [ticketId: string, playerId: string]

export const packPresence = ({ ticketId, playerId }: PresenceReport): PackedPresence =>
  playerId === undefined ? ticketId : [ticketId, playerId]

export const unpackPresence = (packed: PackedPresence): PresenceReport =>
  typeof packed === 'string' ? { ticketId: packed } : { ticketId: packed[0], playerId: packed[1] }

const { MusterError } = core

/** The classes of errors in a leader's replies to followers, by name. */
const CLASSES: ReadonlyMap<string, object> = new Map(
  [...Object.values<unknown>(core), ...Object.values<unknown>(matchmaker)].flatMap((one) =>
    typeof one === 'function' && one.prototype instanceof MusterError ? [[one.prototype.name, one.prototype]] : [],
  ),
)

/** Names on the wire of renamed classes: processes of an earlier version read and write these. */
const WIRE_NAMES: Readonly<Record<string, string>> = {
  AlreadyAssigned: 'TooLate',
  MatchNotRunning: 'NotRunning',
  BackfillVersionConflict: 'StaleBackfill',
  SendAborted: 'Withheld',
}
const NAMES: ReadonlyMap<string, string> = new Map(Object.entries(WIRE_NAMES).map(([name, wire]) => [wire, name]))

/** Converts an error to JSON. Of an unexpected error, only the message is sent. */
export function encodeError(error: unknown): EncodedError {
  if (!(error instanceof MusterError)) return { name: 'MusterError', message: scrub(String(error)), facts: {} }
  const { name, message } = error
  return { name: WIRE_NAMES[name] ?? name, message, facts: Object.fromEntries(Object.entries(error)) }
}

/** Returns the error with its original class. An unknown class becomes a `MusterError`. */
export function decodeError({ name, message, facts }: EncodedError): core.MusterError {
  const error = new MusterError(message)
  const known = CLASSES.get(NAMES.get(name) ?? name)
  if (known !== undefined) Object.setPrototypeOf(error, known)
  return Object.assign(error, facts)
}
