import type { Coordinates } from '@muster/core'
import type { Clock, Random } from '@muster/core/clock'
import { InvalidTicket, PlayerBusy, PlayerPlaying, unknownQueue } from '../errors.js'
import { newId } from '@muster/core/internal'
import type { Entry } from '@muster/kernel'
import type { Facts, RuleTicket } from '../queues/index.js'
import type { Assignment } from '@muster/hosting/internal'
import { newRecord, type QueueRuntime, type TicketRecord } from './ticket-record.js'
import type { LocatePlayers, PlayerLocation } from './locate-players.js'
import type { Cooldowns } from './cooldowns.js'
import type { PlayerIndex, PlayingTickets } from './player-index.js'
import type { PlayerLimits } from './limits.js'
import type { CheckedTicket, TicketPlayer } from './checked-ticket.js'
import type { Ticket } from './ticket.js'
import { invalidTicket } from './ticket-input.js'

/** What is already known about an imported ticket. */
export interface TicketHistory {
  /** Epoch milliseconds. */
  readonly createdAt: number
  readonly attempts: number
  readonly place: Coordinates | undefined
}

/** A running match of an earlier process whose tickets are not known. */
export interface PlayedMatch {
  readonly matchId: string
  /** Name of the queue. */
  readonly queue: string
  /** The address for players; undefined if the store does not have it. */
  readonly assignment?: Assignment | undefined
}

/**
 * Returns the match of an earlier process in which a player plays without a known ticket; undefined if there is none.
 */
export type PlayedBy = (playerId: string) => PlayedMatch | undefined

export interface AdmissionContext {
  /** The queues in operation by name. */
  readonly runtimes: ReadonlyMap<string, QueueRuntime>
  readonly players: PlayerIndex
  readonly playing: Pick<PlayingTickets, 'ticketsOf'>
  readonly playedBy: PlayedBy
  readonly limits: Pick<PlayerLimits, 'check'>
  readonly cooldowns: Pick<Cooldowns, 'check'>
  readonly locatePlayers: LocatePlayers
  readonly clock: Clock
  readonly random: Random
}

/**
 * Placeholder for a ticket's location while the location is looked up. The queue checks the ticket again afterwards.
 */
export const PENDING_LOCATION: Coordinates = { latitude: 0, longitude: 0 }

/**
 * Creates the record of a ticket after checking that its players may wait in all of its queues.
 * @throws {UnknownQueue}; {PlayerBusy}; {PlayerPlaying}; {PlayerOverLimit}; {PlayerCoolingDown}
 */
export function admit(
  ticket: CheckedTicket,
  past: TicketHistory | undefined,
  context: AdmissionContext,
): AdmittedTicket {
  const { players, locatePlayers, clock, random } = context
  const runtimes = runtimesOf(ticket.queues, context.runtimes)
  assertLocatable(ticket, runtimes)
  const now = clock.now()
  if (isFree(ticket, context)) {
    for (const { id } of ticket.players) context.limits.check(id, 0, now)
  } else {
    assertNotBusy(ticket, runtimes, players)
    assertNotPlaying(ticket, runtimes, context)
    for (const { id } of ticket.players) context.limits.check(id, matchesOf(id, context), now)
  }
  // Cooldowns apply to new public tickets only: imported tickets were admitted elsewhere, and private matches are
  // exempt.
  const isNew = past === undefined && ticket.privateSeat === undefined
  if (isNew) assertNotCoolingDown(ticket, runtimes, context.cooldowns, now)
  const place = past?.place ?? locatePlayers(ticket.players)
  const locating = place instanceof Promise
  const record = newRecord(ticket, {
    id: ticket.id ?? newId(random),
    runtimes,
    createdAt: Math.min(past?.createdAt ?? now, now),
    attempts: past?.attempts ?? 0,
    place: locating ? undefined : place,
    locating,
  })
  return { record, now, found: locating ? place : undefined }
}

/**
 * True if none of the ticket's players is in another ticket or in a match. This quick check looks up each player only
 * once. It saves most of the time of the full checks.
 */
function isFree(ticket: CheckedTicket, { players, playing, playedBy }: AdmissionContext): boolean {
  for (const { id } of ticket.players) {
    if (players.ticketsOf(id).length > 0 || playing.ticketsOf(id).length > 0) return false
    if (playedBy(id) !== undefined) return false
  }
  return true
}

/** Returns the number of matches that the player waits for and plays in. */
const matchesOf = (id: string, { players, playing, playedBy }: AdmissionContext): number =>
  players.ticketsOf(id).length + playing.ticketsOf(id).length + (playedBy(id) === undefined ? 0 : 1)

export interface AdmittedTicket {
  readonly record: TicketRecord
  /** Time of the admission, in epoch milliseconds. */
  readonly now: number
  /** Resolves with the location of the ticket; undefined if it is known already. */
  readonly found: Promise<PlayerLocation> | undefined
}

/** The part of a ticket that queues read. */
export interface QueueableTicket extends RuleTicket {
  readonly players: readonly TicketPlayer[]
  readonly runtimes: readonly QueueRuntime[]
  /** True while its location is being looked up. */
  readonly locating: boolean
}

/**
 * Returns the ticket's entry for each of its queues; undefined while its location is looked up.
 * @throws {InvalidTicket} if one of the queues refuses it.
 */
export function entriesOf(record: QueueableTicket): readonly Entry<Facts>[] | undefined {
  const { runtimes, locating } = record
  const [first] = runtimes
  if (first !== undefined && runtimes.length === 1 && !locating) return [first.entryOf(record)]
  const checked = locating ? { ...record, place: PENDING_LOCATION } : record
  const entries = runtimes.map((runtime) =>
    runtimes.length === 1 ? runtime.entryOf(checked) : entryIn(runtime, checked),
  )
  return locating ? undefined : entries
}

/**
 * Returns the entry of a ticket in one of its queues.
 * @throws {InvalidTicket} that names the queue that refuses the ticket.
 */
function entryIn({ queue, entryOf }: QueueRuntime, ticket: QueueableTicket): Entry<Facts> {
  try {
    return entryOf(ticket)
  } catch (error) {
    if (!(error instanceof InvalidTicket)) throw error
    throw new InvalidTicket(`${error.message} (queue ${JSON.stringify(queue.name)})`, {
      field: error.field ?? '',
      cause: error,
    })
  }
}

/** Finds the queues in operation by name. @throws {UnknownQueue} */
export function runtimesOf(
  queues: readonly string[],
  runtimes: ReadonlyMap<string, QueueRuntime>,
): readonly QueueRuntime[] {
  const runtimeOf = (queue: string) => {
    const runtime = runtimes.get(queue)
    if (runtime === undefined) throw unknownQueue(queue, [...runtimes.keys()])
    return runtime
  }
  const [first = ''] = queues
  return queues.length === 1 ? runtimeOf(first).alone.runtimes : queues.map(runtimeOf)
}

/**
 * Checks that the ticket has a location for its server: from `ip`, `coordinates`, or the queue's latency rule.
 * @throws {InvalidTicket}
 */
export function assertLocatable({ players }: CheckedTicket, runtimes: readonly QueueRuntime[]): void {
  for (let index = 0; index < players.length; index += 1) {
    const { ip, coordinates } = players[index] as TicketPlayer
    if (ip !== undefined || coordinates !== undefined) continue
    const unplaced = runtimes.find(({ queue }) => !queue.rules.some(({ kind }) => kind === 'latency'))
    if (unplaced === undefined) continue
    const queue = JSON.stringify(unplaced.queue.name)
    throw invalidTicket(
      `players.${index}`,
      `players.${index}: set ip or coordinates. Queue ${queue} has no latency rule, ` +
        'so its servers are placed by player location.',
    )
  }
}

function assertNotCoolingDown(
  { players }: CheckedTicket,
  runtimes: readonly QueueRuntime[],
  cooldowns: Pick<Cooldowns, 'check'>,
  now: number,
): void {
  for (const { queue } of runtimes) {
    if (queue.cooldown !== undefined) for (const { id } of players) cooldowns.check(id, queue, now)
  }
}

function assertNotBusy(ticket: CheckedTicket, runtimes: readonly QueueRuntime[], players: PlayerIndex): void {
  for (const { id } of ticket.players) {
    for (const other of players.ticketsOf(id)) {
      if (!mayWaitTwice(runtimes, other.runtimes)) throw new PlayerBusy(id, other.id)
    }
  }
}

function assertNotPlaying(
  ticket: CheckedTicket,
  runtimes: readonly QueueRuntime[],
  { playing, playedBy }: Pick<AdmissionContext, 'playing' | 'playedBy'>,
): void {
  if (mayWaitWhilePlaying(runtimes)) return
  for (const { id } of ticket.players) {
    const [other] = playing.ticketsOf(id)
    const match = other?.seat?.match ?? playedBy(id)
    if (match !== undefined) throw new PlayerPlaying(id, other?.id, match.matchId)
  }
}

export const mayWaitWhilePlaying = (runtimes: readonly QueueRuntime[]) =>
  runtimes.every(({ queue }) => queue.playersMayWaitWhilePlaying)

/**
 * True if a player may be in both tickets. Two tickets of one player never wait in the same queue, because one match
 * could then hold both.
 */
export const mayWaitTwice = (runtimes: readonly QueueRuntime[], others: readonly QueueRuntime[]) =>
  runtimes.every((runtime) => runtime.queue.playersMayWaitTwice && !others.includes(runtime)) &&
  others.every((runtime) => runtime.queue.playersMayWaitTwice)

/**
 * Checks that two tickets of the same id have the same queues and players, in the same order.
 * @throws {InvalidTicket} if the earlier ticket of this id differs.
 */
export function assertSameTicket(
  before: Pick<Ticket, 'queues' | 'players'>,
  { id, queues, players }: Pick<Ticket, 'queues' | 'players'> & { readonly id: string | undefined },
): void {
  const playerIds = players.map((player) => player.id)
  if (
    isSame(before.queues, queues) &&
    isSame(
      before.players.map((player) => player.id),
      playerIds,
    )
  )
    return
  throw invalidTicket(
    'id',
    `id: ${JSON.stringify(id)} already belongs to a ticket with different queues or players. Use a new id.`,
  )
}

const isSame = (list: readonly string[], other: readonly string[]) =>
  list.length === other.length && list.every((one, index) => one === other[index])
