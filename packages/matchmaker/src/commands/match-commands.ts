import type { Clock } from '@muster/core/clock'
import type { Allocator } from '../servers/allocator.js'
import type { Allocation } from '../servers/records/allocation.js'
import { presentPlayer } from '../matches/backfill/backfill-input.js'
import { NotRunning, UnknownMatch } from '../errors.js'
import type { Events } from '../events.js'
import type { Matchmaker } from './matchmaker.js'
import type { Cooldowns } from '../tickets/cooldowns.js'
import type { Match, QueueRuntime } from '../tickets/records.js'
import { newMatch, playersOf } from '../matches/match.js'
import type { MatchLifecycle } from '../matches/match-lifecycle.js'

export interface Matching {
  readonly lifecycle: MatchLifecycle
  readonly allocator: Pick<Allocator, 'find' | 'drop' | 'setPlayers' | 'whenEnded'>
  /** Finds a queue by its name. */
  readonly runtime: (queue: string) => QueueRuntime | undefined
  readonly cooldowns: Pick<Cooldowns, 'count'>
  readonly events: Events
  readonly clock: Clock
}

/** Commands of games about their matches. */
export interface MatchingApi extends Pick<Matchmaker, 'stopMatch' | 'playersLeft'> {
  /** Finds a match whose server runs. @throws {UnknownMatch}; {NotRunning} */
  running(matchId: string): Match
}

export function createMatching({ lifecycle, allocator, runtime, cooldowns, events, clock }: Matching): MatchingApi {
  const unknown = (matchId: string) => new UnknownMatch(`there is no match ${JSON.stringify(matchId)}`)

  /** Rebuilds a match of an earlier process, of which only the server and the players' ids are known. */
  const adopt = (matchId: string, queueName: string): Match | undefined => {
    const there = runtime(queueName)
    if (there === undefined) return undefined
    const { queue, compiled } = there
    const match = newMatch(matchId, queue, compiled.model.teams, clock.now())
    match.phase = 'running'
    match.teamsUnknown = match.teams.length > 1
    const allocation = allocator.find(matchId)
    const placed = (id: string) => ({ ticket: presentPlayer({ id }, match.foundAt), team: 0 })
    if (!match.teamsUnknown) match.placed = allocation?.playerIds.map(placed) ?? []
    match.requestId = allocation?.requestId
    match.assignment = allocation?.assignment
    lifecycle.adopt(match)
    return match
  }

  const end = (allocation: Allocation | undefined, match: Match | undefined, stop: 'stopped' | 'left') => {
    if (match !== undefined) lifecycle.dissolve(match, { reason: 'stopped', stop }, clock.now())
    else if (allocation !== undefined) allocator.drop(allocation, stop)
  }

  return {
    running: (matchId) => {
      const allocation = allocator.find(matchId)
      if (allocation === undefined && lifecycle.find(matchId) === undefined) throw unknown(matchId)
      if (allocation?.phase !== 'running') throw new NotRunning(matchId)
      const match = lifecycle.find(matchId) ?? adopt(matchId, allocation.queue)
      if (match?.assignment === undefined) throw new NotRunning(matchId)
      return match
    },

    playersLeft: (matchId, playerIds) => {
      const allocation = allocator.find(matchId)
      const match = lifecycle.find(matchId)
      const queue = allocation?.queue ?? match?.queue.name
      if (queue === undefined) throw unknown(matchId)
      // The server is being stopped already, whoever leaves.
      if (allocation?.unwanted !== undefined) return
      const named = new Set(playerIds)
      const gone = playersIn(allocation, match).filter((id) => named.has(id))
      if (gone.length === 0) return
      if (match !== undefined && match.phase !== 'running') cooldowns.count(match.queue, gone, 'left', clock.now())
      if (match !== undefined) lifecycle.desert(match, gone, clock.now())
      else if (allocation !== undefined) allocator.setPlayers(allocation, without(allocation.playerIds, gone))
      const remaining = lifecycle.find(matchId) === match ? playersIn(allocation, match).length : 0
      events.emit('playersLeft', { matchId, queue, playerIds: gone, remaining })
      if (remaining === 0) end(allocation, match, 'left')
    },

    stopMatch: async (matchId) => {
      const allocation = allocator.find(matchId)
      const match = lifecycle.find(matchId)
      if (allocation === undefined && match === undefined) throw unknown(matchId)
      const ended = allocation && allocator.whenEnded(allocation)
      end(allocation, match, 'stopped')
      await ended
    },
  }
}

/** The players of a match. The allocator does not know a match that is still being accepted. */
const playersIn = (allocation: Allocation | undefined, match: Match | undefined): readonly string[] =>
  allocation?.playerIds ?? playersOf(match?.seated ?? [])

const without = (all: readonly string[], gone: readonly string[]) => all.filter((id) => !gone.includes(id))
