import { InvalidInput } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import {
  type Allocator,
  createJoinSigner,
  createServerKeys,
  type EndedMatches,
  type JoinGrant,
  type ServerReport,
} from '@muster/hosting/internal'
import { PlayerPlaying, Unavailable, UnknownSeat, UnknownServer } from '../errors.js'
import type { JoinTokenOptions } from '../options.js'
import { type Cooldowns, type Match, seatIdOf, type Ticket } from '../tickets/index.js'
import type { MatchCommands } from './match-commands.js'
import type { MatchLifecycle } from './match-lifecycle.js'
import type { Matchmaker } from './matchmaker.js'

interface ServerCommandsOptions {
  readonly allocator: Pick<
    Allocator,
    'serverCalls' | 'enrolling' | 'joinToken' | 'joinKeys' | 'drainServer' | 'findServer' | 'dropServer'
  >
  readonly lifecycle: Pick<MatchLifecycle, 'find'>
  readonly matching: Pick<MatchCommands, 'recorded' | 'end'>
  readonly ended: Pick<EndedMatches, 'has'>
}

/** Creates the commands of game servers. */
export function createServerCommands({ allocator, lifecycle, matching, ended }: ServerCommandsOptions) {
  const unknown = (serverId: string) =>
    new UnknownServer(`There is no game server ${JSON.stringify(serverId)}. It may have ended.`)
  return {
    registerServer: (token, registration) => allocator.serverCalls.registerServer(token, registration),
    isEnrolmentKey: (key) => allocator.enrolling.isEnrolmentKey(key),
    enrolServer: async (key, request, from) => {
      const server = allocator.enrolling.enrol(key, request, from)
      await matching.recorded(server.id)
      return server
    },
    revokeEnrolment: async (keyId) => {
      await Promise.all(allocator.enrolling.revoke(keyId).map((id) => matching.recorded(id)))
    },
    reportServer: async (token, report) => {
      assertTeams(report, (matchId) => lifecycle.find(matchId))
      const { orders, before } = allocator.serverCalls.reportServer(token, report)
      // The report's changes of matches are applied now, including the end of matches that the report omits. Answer
      // once these changes are stored.
      const about = new Set([...before, ...report.matches.map(({ id }) => id)])
      await Promise.all(Array.from(about, (id) => matching.recorded(id)))
      return orders
    },
    drainServer: async (serverId) => {
      if (!allocator.drainServer(serverId) && !ended.has(serverId)) throw unknown(serverId)
      await matching.recorded(serverId)
    },
    stopServer: async (serverId) => {
      const server = allocator.findServer(serverId)
      if (server === undefined && !ended.has(serverId)) throw unknown(serverId)
      const about = [serverId, ...Array.from(server?.guests ?? [], ({ id }) => id)]
      if (server !== undefined) {
        // If the server belongs to one match, that match ends first, so that its tickets get the reason.
        matching.end(serverId, 'stopped')
        allocator.dropServer(server, 'stopped')
      }
      await Promise.all(about.map((id) => matching.recorded(id)))
    },
    joinToken: (ticket, playerId) => {
      const grant = joinGrantOf(ticket, playerId)
      return grant && allocator.joinToken(grant)
    },
    joinKeys: () => allocator.joinKeys(),
    waitForServerOrders: async (token, wait) => {
      const { orders, before } = await allocator.serverCalls.waitForOrders(token, wait)
      // A match that the orders omit is over for the server, so answer once that is stored.
      const there = new Set(orders.matches.map(({ id }) => id))
      await Promise.all(before.flatMap((id) => (there.has(id) ? [] : [matching.recorded(id)])))
      return orders
    },
  } satisfies Partial<Matchmaker>
}

interface SeatCommandsOptions {
  readonly browser: Allocator['browser']
  readonly cooldowns: Pick<Cooldowns, 'check'>
  readonly findPlayer: Matchmaker['findPlayer']
  readonly find: Allocator['findServer']
  readonly matching: Pick<MatchCommands, 'recorded'>
  readonly clock: Pick<Clock, 'now'>
  readonly assertNotClosed: () => void
}

/**
 * Cooldowns of players who let seats expire are counted in this queue: 60 s, doubled each time, at most 15 minutes (our
 * choices).
 */
export const SEATS_QUEUE = {
  name: 'seats',
  cooldown: {
    name: 'seats',
    firstMs: 60_000,
    factor: 2,
    maxMs: 900_000,
    forgiveAfterMs: 3_600_000,
    for: ['not-accepted'],
  },
} as const

/** Creates the commands of players about listed servers. */
export function createSeatCommands(options: SeatCommandsOptions) {
  const { browser, cooldowns, findPlayer, find, matching, clock, assertNotClosed } = options
  /** Checks that players may take seats. @throws {PlayerPlaying}; {PlayerCoolingDown} */
  const assertFree = (playerIds: readonly string[]) => {
    assertNotClosed()
    for (const playerId of playerIds) {
      cooldowns.check(playerId, SEATS_QUEUE, clock.now())
      const { tickets, match } = findPlayer(playerId)
      const playing = tickets.find(({ matchId, ended }) => matchId !== undefined && ended === undefined)
      const matchId = playing?.matchId ?? match?.matchId
      if (matchId !== undefined) throw new PlayerPlaying(playerId, playing?.id, matchId)
    }
  }
  const noSeat = () => new UnknownSeat('There is no such seat, or it is not yours.')
  return {
    listedServers: (known) => browser.changes(known),
    holdSeats: (request) => {
      assertFree(request.playerIds)
      return browser.hold(request)
    },
    followSeat: (seatId, playerId) => {
      const seat = browser.follow(seatId, playerId)
      if (seat === undefined) throw noSeat()
      return seat
    },
    releaseSeat: async (seatId, playerId) => {
      const serverId = browser.release(seatId, playerId)
      if (serverId === undefined) throw noSeat()
      await matching.recorded(serverId)
    },
    seatsOf: (playerId) => browser.ofPlayer(playerId),
    startServer: async (request) => {
      assertFree(request.playerIds)
      const started = browser.starts.start(request)
      const { serverId, isNew } = started
      try {
        await matching.recorded(serverId)
        if (find(serverId) === undefined && !browser.starts.isStarting(serverId))
          throw new Unavailable('The store cannot record the server, so no server is started. Retry.')
      } catch (error) {
        if (isNew) browser.starts.cancel(serverId, request.playerIds)
        throw error
      }
      return started
    },
  } satisfies Partial<Matchmaker>
}

/**
 * Checks the teams for which a report requests players.
 * @throws {InvalidInput} naming the field, if the report asks for seats in a team that the match does not have
 */
function assertTeams({ matches }: ServerReport, find: (matchId: string) => Match | undefined): void {
  for (const [index, { id, seats }] of matches.entries()) {
    const match = find(id)
    if (match === undefined || seats?.teams === undefined) continue
    for (const [name, slots] of Object.entries(seats.teams)) {
      const team = match.teams.find((one) => one.name === name)
      const field = `matches.${index}.seats.teams.${name}`
      if (team === undefined) throw new InvalidInput(`${field}: the match has no such team`, { field })
      if (slots > team.max)
        throw new InvalidInput(`${field}: must be at most ${team.max}, the players of the team, got ${slots}`, {
          field,
        })
    }
  }
}

/** Creates join tokens in a process that has the master secret of the servers' tokens and no matches of its own. */
export function createJoinTokens(
  { alg }: JoinTokenOptions,
  masterSecret: () => string,
  clock: Pick<Clock, 'now' | 'wallStepMs'>,
): Pick<Matchmaker, 'joinToken' | 'joinKeys'> {
  const signer = createJoinSigner(alg, createServerKeys(masterSecret))
  return {
    joinToken: (ticket, playerId) => {
      const grant = joinGrantOf(ticket, playerId)
      return grant && signer.grant(grant, clock)
    },
    joinKeys: signer.keySet,
  }
}

/**
 * Returns the join permission of a player by their ticket; undefined unless its server runs and the player is in its
 * match.
 */
function joinGrantOf(ticket: Ticket, playerId: string): JoinGrant | undefined {
  const { id, status, assignment, matchId, ended, left, players, team } = ticket
  const index = players.findIndex((player) => player.id === playerId)
  if (status !== 'HOST_ASSIGNED' || ended !== undefined || index === -1) return undefined
  if (left?.includes(playerId) === true) return undefined
  if (assignment?.server === undefined || matchId === undefined) return undefined
  return {
    server: assignment.server,
    matchId,
    playerId,
    seatId: seatIdOf(ticket, index),
    team,
    groupId: players.length > 1 ? id : undefined,
  }
}
