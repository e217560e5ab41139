// pure: a validated ticket, and its constant parts as JSON
import type { Coordinates } from '@muster/core'
import type { Player } from '@muster/hosting/internal'
import type { RulePlayer } from '../queues/index.js'
import type { Ticket } from './ticket.js'

/**
 * A player of a validated ticket. Absent fields are filled with empty values, so that rules need not check for them.
 */
export interface TicketPlayer extends RulePlayer {
  readonly ip: string | undefined
  readonly coordinates: Coordinates | undefined
}

/** The seat of a ticket in a private match; see `createMatch`. Such a ticket never joins another match. */
export interface PrivateSeat {
  /** Id of the private match. */
  readonly id: string
  /** Name of the ticket's team. */
  readonly team: string
  /** Number of tickets of the private match: one for each of its teams. */
  readonly tickets: number
  /** True if the players must accept the match in a queue with `acceptance`. */
  readonly asks: boolean
}

/** A validated ticket. */
export interface CheckedTicket {
  readonly id: string | undefined
  readonly queues: readonly string[]
  readonly players: readonly TicketPlayer[]
  readonly priority: number
  readonly privateSeat?: PrivateSeat | undefined
}

/** Maximum sizes of a player's fields; see `Player`. */
export const MOST = {
  characters: 128,
  queues: 16,
  players: 500,
  attributes: 64,
  listed: 128,
  beacons: 64,
  latencyMs: 60_000,
  roles: 16,
  avoided: 256,
}

export const TICKET_ID = /^[\w-]{1,64}$/
export const PRIORITIES = { least: -100, most: 100 }

const NOTHING = Object.freeze({})
const NONE: readonly never[] = Object.freeze([])

/** Fills in the absent fields of a player. */
export const complete = ({ id, ip, coordinates, latencies, attributes, roles, avoid }: Player): TicketPlayer => ({
  id,
  ip,
  coordinates,
  latencies: latencies ?? NOTHING,
  attributes: attributes ?? NOTHING,
  roles: roles ?? NONE,
  avoid: avoid ?? NONE,
})

/** The stored part of a ticket that never changes. Empty fields are left out. */
interface StoredTicketBody {
  readonly queues: readonly string[]
  readonly players: readonly Player[]
  readonly priority?: number
  readonly privateSeat?: PrivateSeat | undefined
}

/** The part of a ticket that changes: all except its id, its body and its creation time. */
export type TicketState = Omit<Ticket, 'id' | 'queues' | 'players' | 'priority' | 'privateMatch' | 'createdAt'>

/** Returns the JSON of a validated ticket without its id. It holds players' addresses. */
export const bodyOf = ({ queues, players, priority, privateSeat }: Omit<CheckedTicket, 'id'>): string =>
  JSON.stringify({
    queues,
    players: players.map(shortened),
    ...(priority === 0 ? {} : { priority }),
    ...(privateSeat === undefined ? {} : { privateSeat }),
  } satisfies StoredTicketBody)

/**
 * Parses a ticket from JSON that `bodyOf` created. Its values are not checked again. @throws Error if it is not JSON.
 */
export function readBody(id: string, body: string): CheckedTicket {
  const { queues, players, priority = 0, privateSeat } = parsed(body)
  return { id, queues, players: players.map(complete), priority, privateSeat }
}

/** Returns the seat of a stored ticket in a private match. @throws Error if the ticket's body is not JSON. */
export const privateSeatOf = ({ body }: Pick<StoredTicket, 'body'>): PrivateSeat | undefined => parsed(body).privateSeat

/**
 * Parses the JSON of a ticket. Hides the message of a `SyntaxError`, because it quotes the JSON, which holds addresses.
 */
function parsed(body: string): StoredTicketBody {
  try {
    return JSON.parse(body) as StoredTicketBody
  } catch {
    throw new Error('the stored body of a ticket is damaged: it is not JSON')
  }
}

/** A ticket as stored. */
export interface StoredTicket {
  readonly id: string
  /** The `body` that `check` of a `TicketChecker` returned. */
  readonly body: string
  /** Epoch milliseconds. */
  readonly createdAt: number
  /** Location of its players, if known. Default: it is looked up. */
  readonly place?: Coordinates | undefined
  /** The part of the ticket that changes; undefined if nothing has changed since its creation. */
  readonly state?: TicketState | undefined
}

export const NEW_STATE: TicketState = { version: 1, status: 'SEARCHING', waitingFor: 'players', attempts: 0 }

/** Returns the public view of a stored ticket. @throws Error if its body is not JSON. */
export function storedTicket({ id, body, createdAt, state = NEW_STATE }: StoredTicket): Ticket {
  const { queues, players, priority = 0, privateSeat } = parsed(body)
  return {
    id,
    queues,
    players: players.map((player) => ({ id: player.id })),
    priority,
    createdAt,
    ...(privateSeat !== undefined && state === NEW_STATE ? { ...state, waitingFor: 'servers' as const } : state),
    privateMatch: privateSeat?.id,
  }
}

const shortened = ({ id, ip, coordinates, latencies, attributes, roles, avoid }: TicketPlayer): Player => ({
  id,
  ip,
  coordinates,
  latencies: Object.keys(latencies).length === 0 ? undefined : latencies,
  attributes: Object.keys(attributes).length === 0 ? undefined : attributes,
  roles: roles.length === 0 ? undefined : roles,
  avoid: avoid.length === 0 ? undefined : avoid,
})
