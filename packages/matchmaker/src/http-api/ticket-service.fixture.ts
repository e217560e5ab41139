import type { Clock } from '@muster/core/clock'
import { EMPTY_INSPECTION, type Inspection } from '../matches/inspection.js'
import type { Matchmaker } from '../matches/matchmaker.js'
import type { AllocationView, Player } from '@muster/hosting/internal'
import type { Backfill } from '../tickets/backfill-types.js'
import {
  BackfillExists,
  InvalidTicket,
  NothingToAccept,
  PlayerBusy,
  BackfillVersionConflict,
  AlreadyAssigned,
  ServerGone,
  UnknownMatch,
  UnknownQueue,
  UnknownSeat,
  UnknownServer,
  UnknownTicket,
} from '../errors.js'
import type { Ticket, TicketInput } from '../tickets/ticket.js'
import type { WaitEstimate } from '../wait-times/wait-estimate.js'
import type { TicketService } from '../commands.js'

/** A matchmaker that matches nobody, so that tests change its tickets. It remembers the inputs it got. */
export interface FakeService extends Pick<Matchmaker, keyof TicketService> {
  /** Ends a backfill as one that found all its players. */
  fillBackfill(id: string): void
  /** Changes a ticket and notifies everyone who waits for a change. */
  change(id: string, change: Partial<Ticket>): void
  /** Removes a ticket, so that it cannot be found. */
  remove(id: string): void
  readonly players: Map<string, readonly Player[]>
  readonly matches: AllocationView[]
  readonly left: string[]
  /** What `estimateWait` returns, by ticket. */
  readonly estimates: Map<string, WaitEstimate>
  readonly stopped: string[]
  looks: number
  pausedUntil: number | undefined
  blockedBy: Inspection['blockedBy']
}

/** The secret of the server of match m1. */
const SERVER_SECRET = 'abcdefghij0123456789v'

export const assignment = {
  fqdn: 'abc.example.com',
  publicIp: '198.51.100.9',
  ports: { game: { internal: 7777, external: 30001, protocol: 'UDP', link: 'abc.example.com:30001' } },
  location: {
    city: 'Oslo',
    country: 'Norway',
    continent: 'Europe',
    administrativeDivision: undefined,
    timezone: 'Europe/Oslo',
    latitude: 59.9,
    longitude: 10.7,
  },
}

const QUEUES: readonly string[] = ['duel', 'ranked']

/** The state of an empty queue. */
const NOTHING = { players: 0, longestWaitMs: 0, matchesFound: 0, searchesGivenUp: 0, backfills: 0, backfillSlots: 0 }

/**
 * Creates the matchmaker with the queues `duel` and `ranked`. `ranked` refuses players without a numeric `skill`, and
 * does not trust a player's own `rating`.
 */
export function createFakeService(clock: Clock): FakeService {
  const tickets = new Map<string, Ticket>()
  const backfills = new Map<string, Backfill>()
  const openBackfillOf = (matchId: string) =>
    [...backfills.values()].find((one) => one.matchId === matchId && one.status === 'OPEN')
  const waiters = new Map<string, Set<() => void>>()
  let made = 0

  const known = (id: string): Ticket => {
    const ticket = tickets.get(id)
    if (ticket === undefined)
      throw new UnknownTicket(`There is no ticket ${JSON.stringify(id)}. It may have ended and been removed.`)
    return ticket
  }
  const createTicket = (input: TicketInput): Ticket => {
    const queues = input.queues ?? [input.queue ?? '']
    for (const queue of queues)
      if (!QUEUES.includes(queue)) throw new UnknownQueue(`There is no queue ${JSON.stringify(queue)}.`)
    const before = tickets.get(input.id ?? '')
    if (before !== undefined) return before
    for (const [index, player] of input.players.entries()) {
      if (queues.includes('ranked') && typeof player.attributes?.['skill'] !== 'number') {
        const field = `players.${index}.attributes.skill`
        throw new InvalidTicket(`ticket: ${field}: must be a number`, { field })
      }
      const busy = [...tickets.values()].find(
        (one) => one.status === 'SEARCHING' && one.players.some(({ id }) => id === player.id),
      )
      if (busy !== undefined) throw new PlayerBusy(player.id, busy.id)
    }
    made += 1
    const id = input.id ?? `ticket-${made}`
    const ticket: Ticket = {
      id,
      version: 1,
      queues,
      players: input.players.map((player) => ({ id: player.id })),
      priority: input.priority ?? 0,
      status: 'SEARCHING',
      waitingFor: 'players',
      createdAt: clock.now(),
      attempts: 0,
    }
    tickets.set(id, ticket)
    fake.players.set(id, input.players)
    return ticket
  }

  const fake: FakeService = {
    players: new Map(),
    matches: [],
    left: [],
    estimates: new Map(),
    stopped: [],
    looks: 0,
    pausedUntil: undefined,
    blockedBy: undefined,
    change: (id, change) => {
      const ticket = known(id)
      tickets.set(id, { ...ticket, ...change, version: ticket.version + 1 })
      for (const wake of waiters.get(id) ?? []) wake()
    },
    remove: (id) => void tickets.delete(id),
    playerMayState: (queue) => (QUEUES.includes(queue) ? (name) => queue !== 'ranked' || name !== 'rating' : undefined),
    readsLatencies: (queue) => QUEUES.includes(queue),
    largestParty: (queue) => (QUEUES.includes(queue) ? 64 : undefined),
    queueNames: () => QUEUES,
    createTicket,
    createTickets: (inputs) =>
      inputs.map((input) => {
        try {
          return { ticket: createTicket(input) }
        } catch (error) {
          return { error: error as InvalidTicket }
        }
      }),
    getTicket: (id) => tickets.get(id),
    presenceWithinMs: () => undefined,
    notePresence: () => {},
    findPlayer: (playerId) => ({
      tickets: [...tickets.values()].filter(
        ({ status, players }) => status !== 'CANCELLED' && players.some(({ id }) => id === playerId),
      ),
    }),
    estimateWait: (id) => fake.estimates.get(id),
    joinToken: () => undefined,
    estimateQueueWaits: () =>
      QUEUES.map((queue) => ({ queue, tickets: 0, players: 0, paused: false, estimate: undefined })),
    waitForChange: async (id, { version, signal }) => {
      signal?.throwIfAborted()
      if (known(id).version === version) {
        const set = waiters.get(id) ?? new Set()
        waiters.set(id, set)
        await new Promise<void>((resolve, reject) => {
          set.add(resolve)
          signal?.addEventListener('abort', () => {
            set.delete(resolve)
            reject(signal.reason as Error)
          })
        })
      }
      return known(id)
    },
    cancelTicket: (id) => {
      const { status, matchId } = known(id)
      if (status === 'HOST_ASSIGNED') throw new AlreadyAssigned(id, matchId ?? '')
      if (status !== 'CANCELLED')
        fake.change(id, { status: 'CANCELLED', cancelReason: 'cancelled', waitingFor: undefined })
      return known(id)
    },
    acceptMatch: (id, playerId, of) => {
      const { acceptance, matchId } = known(id)
      if (acceptance === undefined || (of ?? matchId) !== matchId) throw new NothingToAccept(id)
      fake.change(id, { acceptance: { ...acceptance, accepted: [...acceptance.accepted, playerId ?? ''] } })
      return known(id)
    },
    declineMatch: (id) => {
      if (known(id).acceptance === undefined) throw new NothingToAccept(id)
      fake.change(id, { status: 'CANCELLED', cancelReason: 'declined', acceptance: undefined })
      return known(id)
    },
    explain: (id) => ({
      ticketId: known(id).id,
      summary: 'waits for others',
      waitedMs: 5,
      waitingFor: 'players',
      queues: [],
    }),
    dateOf: (at = clock.now()) => at,
    browserTerms: () => ({ attributes: {}, holdSeconds: 30, maxHoldSeconds: 300 }),
    listedServers: () => ({ epoch: 'one', since: 0, version: 0, isNew: false, servers: [], gone: [], more: false }),
    holdSeats: () => {
      throw new UnknownServer('There is no such server, or it is not listed any more.')
    },
    followSeat: () => {
      throw new UnknownSeat('There is no such seat, or it is not yours.')
    },
    releaseSeat: async () => {
      throw new UnknownSeat('There is no such seat, or it is not yours.')
    },
    seatsOf: () => [],
    startServer: () => {
      throw new UnknownServer('There is no such server, or it is not listed any more.')
    },
    longestWaiting: (limit) => {
      const searching = [...tickets.values()].filter(({ status }) => status === 'SEARCHING')
      const longest = searching.toSorted((one, other) => one.createdAt - other.createdAt)
      return { total: searching.length, tickets: longest.slice(0, limit) }
    },
    registerServer: () => {
      throw new ServerGone('no servers here')
    },
    isEnrolmentKey: () => false,
    enrolServer: () => Promise.reject(new ServerGone('no servers here')),
    revokeEnrolment: async () => {},
    reportServer: () => {
      throw new ServerGone('no servers here')
    },
    drainServer: async () => {},
    stopServer: async () => {},
    waitForServerOrders: () => Promise.reject(new ServerGone('no servers here')),
    joinKeys: () => ({ keys: [] }),
    cooldownsOf: () => [],
    forgive: () => {},
    pauseQueue: () => {},
    pausePool: () => {},
    resultsSetAside: () => [],
    repeatResult: () => {},
    dropResult: () => {},
    resumeQueue: () => {},
    createMatch: ({ id = 'match-1', queue, teams }) => ({
      id,
      tickets: teams.map(({ players }, index) => createTicket({ id: `${id}-${index + 1}`, queue, players })),
    }),
    playersLeft: (matchId, playerIds) => {
      if (!fake.matches.some((match) => match.matchId === matchId)) {
        throw new UnknownMatch(`There is no match ${JSON.stringify(matchId)}. It may have ended.`)
      }
      fake.left.push(...playerIds)
      return Promise.resolve()
    },
    stopMatch: async (matchId, { until } = {}) => {
      if (!fake.matches.some((match) => match.matchId === matchId)) {
        throw new UnknownMatch(`There is no match ${JSON.stringify(matchId)}. It may have ended.`)
      }
      fake.stopped.push(matchId)
      if (until !== 'recorded') await new Promise(() => {})
    },
    serverReady: (matchId, secret) => matchId === 'm1' && secret === 'hush',
    playerCame: (matchId, secret) => matchId === 'm1' && secret === SERVER_SECRET,
    isServerSecret: (secret) => secret === 'hush' || secret === SERVER_SECRET,
    isSecretOf: (matchId, secret) => matchId === 'm1' && secret === SERVER_SECRET,
    createBackfill: (given) => {
      const { id = 'backfill-1', matchId, teams = [] } = given
      const before = backfills.get(id)
      if (before?.matchId === matchId && given.id !== undefined) return before
      const open = openBackfillOf(matchId)
      if (open !== undefined) throw new BackfillExists(matchId, open.id)
      const backfill: Backfill = {
        id,
        version: 1,
        matchId,
        queue: 'duel',
        status: 'OPEN',
        createdAt: clock.now(),
        teams: teams.map(({ name, slots = 1, players = [] }) => ({
          name,
          slots,
          players: players.map((player) => player.id),
        })),
        tickets: [],
      }
      backfills.set(id, backfill)
      return backfill
    },
    getBackfill: (id) => backfills.get(id),
    updateBackfill: (id, { version, teams }) => {
      const backfill = backfills.get(id) as Backfill
      if (backfill.version !== version) throw new BackfillVersionConflict(id, backfill.version)
      const changed = {
        ...backfill,
        version: version + 1,
        teams: teams.map(({ name, slots = 1 }) => ({ name, slots, players: [] })),
      }
      backfills.set(id, changed)
      return changed
    },
    cancelBackfill: (id) => {
      const cancelled = { ...(backfills.get(id) as Backfill), status: 'CANCELLED' as const }
      backfills.set(id, cancelled)
      return cancelled
    },
    fillBackfill: (id) => {
      backfills.set(id, { ...(backfills.get(id) as Backfill), status: 'FILLED' })
    },
    inspect: () => {
      fake.looks += 1
      const searching = { location: 0, players: 0, retry: 0, servers: 0, 'other-ticket': 0 }
      return {
        ...EMPTY_INSPECTION,
        queues: ['duel', 'ranked'].map((name) => ({ name, paused: false, searching, matchPlayers: 2, ...NOTHING })),
        matches: fake.matches.map((one) => ({ ...one, backfillId: openBackfillOf(one.matchId)?.id })),
        pausedUntil: fake.pausedUntil,
        blockedBy: fake.blockedBy,
      } as never
    },
  }
  return fake
}
