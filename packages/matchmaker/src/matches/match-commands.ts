import { InvalidInput } from '@muster/core'
import type { Clock, Random } from '@muster/core/clock'
import { within } from '@muster/core/internal'
import type { Allocator, EndedMatches, HostedMatch } from '@muster/hosting/internal'
import { presentPlayer } from './backfill-commands.js'
import { MatchNotRunning, Unavailable, UnknownMatch } from '../errors.js'
import type { Events } from '../events.js'
import type { Matchmaker } from './matchmaker.js'
import {
  checkMatch,
  type Cooldowns,
  countPlayers,
  inMatch,
  type Match,
  type QueueRuntime,
  ticketOf,
  type TicketRecord,
  type TicketStore,
} from '../tickets/index.js'
import { newMatch, playersOf, privateQueue } from './match.js'
import type { MatchLifecycle } from './match-lifecycle.js'
import type { GroupedTickets } from './rounds.js'

export interface MatchCommandsContext {
  readonly lifecycle: MatchLifecycle
  readonly allocator: Pick<Allocator, 'find' | 'drop' | 'setPlayers' | 'recorded'>
  readonly ended: Pick<EndedMatches, 'has'>
  /** Finds a queue by its name. */
  readonly runtime: (queue: string) => QueueRuntime | undefined
  readonly cooldowns: Pick<Cooldowns, 'count'>
  readonly events: Events
  readonly clock: Clock
}

/** The commands of games about their matches. */
export interface MatchCommands extends Pick<Matchmaker, 'stopMatch' | 'playersLeft'> {
  /** Returns a match whose server runs. @throws {UnknownMatch}; {MatchNotRunning} */
  running(matchId: string): Match
  /** Ends a match if it exists. */
  end(matchId: string, stop: 'over' | 'stopped'): void
  /** Resolves once the store has recorded the decision about the match. @throws {Unavailable} */
  recorded(matchId: string): Promise<void>
}

/**
 * Milliseconds that the store may take to record a command. After that, the command rejects and may be retried (our
 * choice).
 */
const RECORD_MS = 10_000

export function createMatchCommands(context: MatchCommandsContext): MatchCommands {
  const { lifecycle, allocator, ended, runtime, cooldowns, events, clock } = context
  const unknown = (matchId: string) =>
    new UnknownMatch(`There is no match ${JSON.stringify(matchId)}. It may have ended.`)

  /** Rebuilds a match of an earlier process. Only its server and the players' ids are known. */
  const adopt = (matchId: string, queueName: string): Match | undefined => {
    const there = runtime(queueName)
    if (there === undefined) return undefined
    const { queue, compiled } = there
    const match = newMatch(matchId, queue, compiled.model.teams, clock.now())
    match.phase = 'running'
    match.teamsUnknown = match.teams.length > 1
    const hosted = allocator.find(matchId)
    const placed = (id: string) => ({ ticket: presentPlayer({ id }, match.foundAt), team: 0 })
    if (!match.teamsUnknown) match.placed = hosted?.playerIds.map(placed) ?? []
    match.requestId = hosted?.requestId
    match.assignment = hosted?.assignment
    lifecycle.adopt(match)
    return match
  }

  /**
   * Resolves once the store has recorded the decision about the match. @throws {Unavailable} if it takes too long or
   * fails
   */
  const recorded = async (matchId: string): Promise<void> => {
    const unavailable = (cause?: unknown) =>
      new Unavailable(`The store cannot record the decision about match ${matchId}. Nothing has changed; retry.`, {
        cause,
      })
    const writing = allocator.recorded(matchId)?.then(
      () => true,
      (error: unknown) => {
        throw unavailable(error)
      },
    )
    if (writing !== undefined && (await within(writing, RECORD_MS, clock)) === undefined) throw unavailable()
  }

  /** Counts a cooldown offence for players who leave others behind in a running match. */
  const countLeavers = (queueName: string, playerIds: readonly string[]) => {
    const queue = runtime(queueName)?.queue
    if (queue !== undefined) cooldowns.count(queue, playerIds, 'left-running', clock.now())
  }

  const end = (hosted: HostedMatch | undefined, match: Match | undefined, stop: 'stopped' | 'left' | 'over') => {
    if (match !== undefined) lifecycle.dissolve(match, { reason: 'stopped', stop }, clock.now())
    else if (hosted !== undefined) allocator.drop(hosted, stop)
  }

  return {
    recorded,
    end: (matchId, stop) => end(allocator.find(matchId), lifecycle.find(matchId), stop),
    running: (matchId) => {
      const hosted = allocator.find(matchId)
      if (hosted === undefined && lifecycle.find(matchId) === undefined) throw unknown(matchId)
      if (hosted?.phase !== 'running') throw new MatchNotRunning(matchId)
      const match = lifecycle.find(matchId) ?? adopt(matchId, hosted.queue)
      if (match?.assignment === undefined) throw new MatchNotRunning(matchId)
      return match
    },

    playersLeft: (matchId, playerIds) => {
      // A single string would be read as a list of its characters, and the server would run on.
      if (!Array.isArray(playerIds))
        throw new InvalidInput('playerIds: must be a list of player ids', { field: 'playerIds' })
      const hosted = allocator.find(matchId)
      const match = lifecycle.find(matchId)
      const queue = hosted?.queue ?? match?.queue.name
      if (queue === undefined && !ended.has(matchId)) throw unknown(matchId)
      const done = () => {
        const recording = recorded(matchId)
        // A caller that does not await the promise gets no unhandled rejection.
        recording.catch(() => {})
        return recording
      }
      if (queue === undefined) return done()
      // The server is being stopped already.
      if (hosted?.stopReason !== undefined) return done()
      const named = new Set(playerIds)
      const gone = playersIn(hosted, match).filter((id) => named.has(id))
      if (gone.length === 0) return done()
      const isRunning = hosted?.phase === 'running'
      if (match !== undefined && match.phase !== 'running') cooldowns.count(match.queue, gone, 'left', clock.now())
      if (match !== undefined) lifecycle.desert(match, gone, clock.now())
      else if (hosted !== undefined) allocator.setPlayers(hosted, without(hosted.playerIds, gone), gone)
      const remaining = lifecycle.find(matchId) === match ? playersIn(hosted, match).length : 0
      events.emit('playersLeft', { matchId, queue, playerIds: gone, remaining })
      if (remaining === 0) end(hosted, match, 'left')
      else if (isRunning) countLeavers(queue, gone)
      return done()
    },

    stopMatch: async (matchId, { until = 'stopped' } = {}) => {
      if (until !== 'stopped' && until !== 'recorded')
        throw new InvalidInput(`option until: must be "recorded" or "stopped", got ${JSON.stringify(until)}`, {
          field: 'until',
        })
      const hosted = allocator.find(matchId)
      const match = lifecycle.find(matchId)
      if (hosted === undefined && match === undefined && !ended.has(matchId)) throw unknown(matchId)
      const stopped = until === 'stopped' && hosted ? hosted.whenEnded() : undefined
      end(hosted, match, 'stopped')
      await (until === 'recorded' ? recorded(matchId) : stopped)
    },
  }
}

/** Returns the players of a match. The allocator does not know a match that still awaits acceptance. */
const playersIn = (hosted: HostedMatch | undefined, match: Match | undefined): readonly string[] =>
  hosted?.playerIds ?? playersOf(match?.seated ?? [])

const without = (all: readonly string[], gone: readonly string[]) => all.filter((id) => !gone.includes(id))

interface CreatingMatches {
  readonly tickets: Pick<TicketStore, 'createTogether' | 'find'>
  /** Returns the queues in operation by name. */
  readonly runtimes: () => ReadonlyMap<string, QueueRuntime>
  /** Begins private matches that wait, if servers may be created now. */
  readonly begin: () => void
  readonly random: Random
  /** Checks that the matchmaker is open. @throws {MatchmakerClosed} */
  readonly assertNotClosed: () => void
}

/** Creates the command that makes a match of given players. */
export function createMatchCreation(options: CreatingMatches): Pick<Matchmaker, 'createMatch'> {
  const { tickets, runtimes, begin, random, assertNotClosed } = options
  return {
    createMatch: (input) => {
      assertNotClosed()
      const match = checkMatch(input, runtimes(), random)
      const created = inMatch(undefined, () => tickets.createTogether(match.tickets))
      begin()
      return {
        id: match.id,
        tickets: created.map((ticket) => {
          const record = tickets.find(ticket.id)
          return record === undefined ? ticket : ticketOf(record)
        }),
      }
    },
  }
}

/**
 * Begins the waiting private matches in the order in which they were made, as many as there is room for. They begin
 * before matches that rules find. Each promise resolves once the store has recorded that the match needs a server.
 */
export type BeginPrivate = (now: number) => readonly Promise<void>[]

interface PrivateRoundsOptions {
  readonly tickets: Pick<TicketStore, 'privateMatches' | 'cancel'>
  readonly lifecycle: Pick<MatchLifecycle, 'room' | 'begin'>
}

export function createBeginPrivate({ tickets, lifecycle }: PrivateRoundsOptions): BeginPrivate {
  return (now) => {
    const begun: Promise<void>[] = []
    for (const records of tickets.privateMatches()) {
      const group = groupOf(records)
      // `reconfigure` has changed the queue so that the match no longer fits.
      if (group === undefined) tickets.cancel(records[0] as TicketRecord, 'refused', now)
      else if (group.runtime.isPaused) continue
      else if (lifecycle.room(now, group.runtime.queue.pool) <= 0) continue
      else begun.push(lifecycle.begin(group, now) ?? Promise.resolve())
    }
    return begun
  }
}

/** Returns the tickets as a group; undefined if the queue no longer has their teams. */
function groupOf(records: readonly TicketRecord[]): GroupedTickets | undefined {
  const [first] = records
  const [runtime] = first?.runtimes ?? []
  if (first?.privateSeat === undefined || runtime === undefined) return undefined
  const teams = records.map((record) => teamOf(record, runtime))
  if (teams.includes(-1)) return undefined
  const queue = privateQueue(runtime.queue, first.privateSeat)
  return { runtime, records, teams, queue, backfill: undefined, expansionMs: 0 }
}

/** Returns the index of the ticket's team; -1 if the queue has no team of this name that is large enough. */
const teamOf = (record: TicketRecord, { compiled }: QueueRuntime): number =>
  compiled.model.teams.findIndex(({ name, max }) => name === record.privateSeat?.team && max >= countPlayers([record]))
