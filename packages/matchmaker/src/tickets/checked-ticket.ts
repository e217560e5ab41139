// pure: a ticket that was checked; what never changes of a ticket, as text
import type { Coordinates } from '@muster/core'
import type { Player } from '@muster/hosting/internal'
import type { RulePlayer } from '../queues/index.js'
import type { Ticket } from './ticket.js'

/** A player of a ticket that was checked: what was not given is empty, so that rules need not ask. */
export interface TicketPlayer extends RulePlayer {
  readonly ip: string | undefined
  readonly coordinates: Coordinates | undefined
}

/** The place of a ticket in a private match; see `createMatch`. Such a ticket is in that match or in none. */
export interface PrivateSeat {
  /** Id of the private match. */
  readonly id: string
  /** Name of the ticket's team. */
  readonly team: string
  /** Number of tickets of the private match: one for each of its teams. */
  readonly tickets: number
  /** Whether the players must accept the match, if the queue has `acceptance`. */
  readonly asks: boolean
}

/** A ticket that was checked. */
export interface CheckedTicket {
  readonly id: string | undefined
  readonly queues: readonly string[]
  readonly players: readonly TicketPlayer[]
  readonly priority: number
  readonly privateSeat?: PrivateSeat | undefined
}

/**
 * Whether a player may have this id. Reports and results have objects whose keys are ids, and JSON with the key
 * `__proto__` is refused: one such player would make a server's whole report be refused (our choice).
 */
export const isPlayerId = (id: string): boolean => id !== '__proto__'
export const NO_PLAYER_ID = 'must not be __proto__: no object of JSON can be trusted with this key'

/** Bounds of what a player may bring along; see `Player`. */
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

/** Fills in what was not given. */
export const complete = ({ id, ip, coordinates, latencies, attributes, roles, avoid }: Player): TicketPlayer => ({
  id,
  ip,
  coordinates,
  latencies: latencies ?? NOTHING,
  attributes: attributes ?? NOTHING,
  roles: roles ?? NONE,
  avoid: avoid ?? NONE,
})

/** The stored part of a ticket that never changes. Fields are left out where they hold nothing. */
interface TicketBody {
  readonly queues: readonly string[]
  readonly players: readonly Player[]
  readonly priority?: number
  readonly privateSeat?: PrivateSeat | undefined
}

/** What changes of a ticket: all but its id and what its body and its creation tell. */
export type TicketState = Omit<Ticket, 'id' | 'queues' | 'players' | 'priority' | 'privateMatch' | 'createdAt'>

/** The JSON text of a ticket that was checked, without its id. It holds players' addresses. */
export const bodyOf = ({ queues, players, priority, privateSeat }: Omit<CheckedTicket, 'id'>): string =>
  JSON.stringify({
    queues,
    players: players.map(shortened),
    ...(priority === 0 ? {} : { priority }),
    ...(privateSeat === undefined ? {} : { privateSeat }),
  } satisfies TicketBody)

/** The ticket again. The text is trusted to be one that `bodyOf` made. @throws Error if it is no JSON. */
export function readBody(id: string, body: string): CheckedTicket {
  const { queues, players, priority = 0, privateSeat } = parsed(body)
  return { id, queues, players: players.map(complete), priority, privateSeat }
}

/** The place in a private match of a stored ticket. @throws Error if its body is no JSON. */
export const privateSeatOf = ({ body }: Pick<StoredTicket, 'body'>): PrivateSeat | undefined => parsed(body).privateSeat

/** The message of a `SyntaxError` would repeat a part of the text, which holds addresses. */
function parsed(body: string): TicketBody {
  try {
    return JSON.parse(body) as TicketBody
  } catch {
    throw new Error('the stored body of a ticket is not as it was written: it is no JSON')
  }
}

/** What is known of a stored ticket. */
export interface StoredTicket {
  readonly id: string
  /** What `check` of a `TicketChecker` returned. */
  readonly body: string
  /** Epoch milliseconds. */
  readonly createdAt: number
  /** Where its players are, if that is known. Default: it is looked up. */
  readonly place?: Coordinates | undefined
  /** Undefined: it has not changed since it was created. */
  readonly state?: TicketState | undefined
}

export const NEW_STATE: TicketState = { version: 1, status: 'SEARCHING', waitingFor: 'players', attempts: 0 }

/** The public view of a stored ticket. @throws Error if its body is no JSON. */
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
