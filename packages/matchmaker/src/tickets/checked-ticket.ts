// pure: a ticket that was checked
import type { Coordinates } from '@muster/core'
import type { RulePlayer } from '../queues/rule-parts/rule-checks.js'
import type { Player } from '@muster/servers'

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
  /** Whether the players are asked whether they accept the match, if the queue asks. */
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
