import type { Clock, Random } from '@muster/core/clock'
import { PlayerBusy, PlayerOverLimit, PlayerPlaying } from '../errors.js'
import { newId, middleOf } from '@muster/core/internal'
import { definePools, defineQueues, type ReconfigureOptions } from '../options.js'
import type { PoolDefinition } from '@muster/hosting'
import { networkOf, type Pool } from '@muster/hosting/internal'
import type { QueueDefinition } from '../queues/index.js'
import {
  entriesOf,
  mayWaitTwice,
  mayWaitWhilePlaying,
  assertLocatable,
  assertSameTicket,
  runtimesOf,
  PENDING_LOCATION,
  type QueueableTicket,
} from './admission.js'
import { cooldownName } from './cooldowns.js'
import { bodyOf, type CheckedTicket, NEW_STATE, type PrivateSeat } from './checked-ticket.js'
import { checkMatch, type MatchInput } from './private-matches.js'
import { createQueueFacts, createQueueRuntime, type QueueFacts } from './queue-runtime.js'
import type { QueueRuntime } from './ticket-record.js'
import { readTicketInput } from './ticket-input.js'
import type { Ticket, TicketInput } from './ticket.js'

/** A ticket that may be created. */
export interface CheckedNewTicket {
  readonly id: string
  /** The ticket's constant parts without its id, as JSON: see `StoredTicket`. They hold players' addresses. */
  readonly body: string
  readonly queues: readonly string[]
  readonly players: readonly { readonly id: string }[]
  readonly priority: number
  readonly privateSeat?: PrivateSeat | undefined
}

/** Another ticket of a player. */
export interface OtherTicket {
  readonly playerId: string
  readonly ticket: Ticket
}

/** Validates tickets as the matchmaker does when it creates them. For a process that only stores them. */
export interface TicketChecker extends QueueFacts {
  /**
   * Validates everything that does not depend on other tickets. @throws {InvalidTicket} naming the field;
   * {UnknownQueue}
   */
  check(input: TicketInput): CheckedNewTicket
  /** Validates a match of given players like `check`. @throws {InvalidMatch} naming the field; {UnknownQueue} */
  checkMatch(input: MatchInput): { readonly id: string; readonly tickets: readonly CheckedNewTicket[] }
  /**
   * Checks that the ticket's players may have it in addition to `others`: their tickets that have not ended, or whose
   * match still runs.
   * @throws {PlayerBusy}; {PlayerPlaying}; {PlayerOverLimit} by `maxMatchesPerPlayer`
   */
  permit(ticket: CheckedNewTicket, others: readonly OtherTicket[]): void
  /** Checks that the earlier ticket of the same id is equal. @throws {InvalidTicket} */
  assertSameTicket(before: Pick<Ticket, 'queues' | 'players'>, ticket: CheckedNewTicket): void
  /** Returns the queues that have a cooldown, with the name of the cooldown. */
  cooldownsIn(queues: readonly string[]): readonly { readonly queue: string; readonly name: string }[]
  /** Returns the view of a new ticket. @param createdAt epoch milliseconds. */
  created(ticket: CheckedNewTicket, createdAt: number): Ticket
  /** Replaces the queues, and the pools if they are given. @throws as `createTicketChecker`; then nothing changes. */
  reconfigure(queues: readonly QueueDefinition[], given?: ReconfigureOptions): void
}

export interface TicketCheckerOptions {
  readonly queues: readonly QueueDefinition[]
  /** The pools that queues name. Default: none. */
  readonly pools?: readonly PoolDefinition[] | undefined
  /** Maximum number of matches that a player may be in, like the matchmaker's option. */
  readonly maxMatchesPerPlayer: number
  readonly clock: Pick<Clock, 'now'>
  /** Creates ids, which should be unpredictable. */
  readonly random: Random
}

const NOTHING = () => {}

const creatable = (ticket: CheckedTicket, id: string): CheckedNewTicket => {
  const { queues, players, priority, privateSeat } = ticket
  const named = players.map((player) => ({ id: player.id }))
  return { id, body: bodyOf(ticket), queues, players: named, priority, privateSeat }
}

/** Creates the checker. @throws {InvalidQueue}; {InvalidInput} */
export function createTicketChecker(options: TicketCheckerOptions): TicketChecker {
  const { maxMatchesPerPlayer, clock, random } = options
  let pools = definePools(options.pools ?? [])
  const compiled = (queues: readonly QueueDefinition[], of: readonly Pool[]): ReadonlyMap<string, QueueRuntime> =>
    new Map(defineQueues(queues, of).map((queue) => [queue.name, createQueueRuntime(queue, NOTHING, NOTHING)]))
  let runtimes = compiled(options.queues, pools)

  /**
   * Returns the ticket in the form that queues read. Players are not located here, so an unknown location does not make
   * the ticket invalid.
   */
  const enterable = (
    { players, priority }: CheckedTicket,
    id: string,
    of: readonly QueueRuntime[],
  ): QueueableTicket => ({
    id,
    players,
    priority,
    createdAt: clock.now(),
    place: players.some(({ ip, coordinates }) => ip !== undefined && coordinates === undefined)
      ? PENDING_LOCATION
      : middleOf(players.flatMap(({ coordinates }) => coordinates ?? [])),
    network: networkOf(players),
    runtimes: of,
    locating: false,
  })

  const assertNotQueued = (own: readonly QueueRuntime[], { playerId, ticket }: OtherTicket) => {
    const others = ticket.queues.flatMap((queue) => runtimes.get(queue) ?? [])
    // A queue that is unknown to this process may forbid a second ticket, so none is permitted.
    if (others.length < ticket.queues.length || !mayWaitTwice(own, others)) throw new PlayerBusy(playerId, ticket.id)
  }

  return {
    check: (input) => {
      const ticket = readTicketInput(input)
      const id = ticket.id ?? newId(random)
      const of = runtimesOf(ticket.queues, runtimes)
      assertLocatable(ticket, of)
      entriesOf(enterable(ticket, id, of))
      return creatable(ticket, id)
    },

    checkMatch: (input) => {
      const { id, tickets } = checkMatch(input, runtimes, random)
      return { id, tickets: tickets.map((ticket) => creatable(ticket, ticket.id)) }
    },

    permit: ({ queues, players }, others) => {
      const own = runtimesOf(queues, runtimes)
      const inForce = others.filter(({ ticket }) => ticket.status !== 'CANCELLED')
      const [playing, waiting] = [inForce.filter(isPlaying), inForce.filter((other) => !isPlaying(other))]
      for (const other of waiting) assertNotQueued(own, other)
      const [played] = playing
      if (played !== undefined && !mayWaitWhilePlaying(own))
        throw new PlayerPlaying(played.playerId, played.ticket.id, played.ticket.matchId ?? '')
      for (const { id } of players) {
        if (inForce.filter(({ playerId }) => playerId === id).length >= maxMatchesPerPlayer)
          throw new PlayerOverLimit(id, 'maxMatchesPerPlayer')
      }
    },

    assertSameTicket,
    cooldownsIn: (queues) =>
      queues.flatMap((name) => {
        const queue = runtimes.get(name)?.queue
        return queue?.cooldown === undefined ? [] : { queue: name, name: cooldownName(queue) }
      }),
    created: ({ id, queues, players, priority, privateSeat }, createdAt) => ({
      id,
      queues,
      players,
      priority,
      createdAt: Math.floor(createdAt),
      ...NEW_STATE,
      ...(privateSeat !== undefined && { waitingFor: 'servers', privateMatch: privateSeat.id }),
    }),
    ...createQueueFacts(() => runtimes),
    reconfigure: (queues, given) => {
      const next = given?.pools === undefined ? pools : definePools(given.pools)
      runtimes = compiled(queues, next)
      pools = next
    },
  }
}

const isPlaying = ({ ticket }: OtherTicket) => ticket.status === 'HOST_ASSIGNED'
