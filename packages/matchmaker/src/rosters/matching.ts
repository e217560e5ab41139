import type { Clock } from '@muster/core/clock'
import type { Allocator } from '../allocation/allocator.js'
import type { Match } from '../allocation/match.js'
import { presentPlayer } from '../backfill/backfill-input.js'
import { NotRunning, UnknownMatch } from '../errors.js'
import type { Events } from '../events.js'
import type { Matchmaker } from '../matchmaker.js'
import type { Lane } from '../tickets/lane.js'
import type { MatchLives } from './match-lives.js'
import { newRoster, playersOf, type Roster } from './roster.js'

export interface Matching {
  readonly lives: MatchLives
  readonly allocator: Pick<Allocator, 'find' | 'drop' | 'setPlayers' | 'whenEnded'>
  /** The queue of that name. */
  readonly lane: (queue: string) => Lane | undefined
  readonly events: Events
  readonly clock: Clock
}

/** What games may do about their matches. */
export interface MatchingApi extends Pick<Matchmaker, 'stopMatch' | 'playersLeft'> {
  /** @throws {UnknownMatch}; {NotRunning} */
  running(matchId: string): Roster
}

export function createMatching({ lives, allocator, lane, events, clock }: Matching): MatchingApi {
  const unknown = (matchId: string) => new UnknownMatch(`there is no match ${JSON.stringify(matchId)}`)

  /** Of an earlier process, only the server and the players' ids are known. */
  const adopt = (matchId: string, queueName: string): Roster | undefined => {
    const there = lane(queueName)
    if (there === undefined) return undefined
    const { queue, compiled } = there
    const roster = newRoster(matchId, queue, compiled.model.teams, clock.now())
    roster.phase = 'running'
    roster.teamsUnknown = roster.teams.length > 1
    const match = allocator.find(matchId)
    const placed = (id: string) => ({ ticket: presentPlayer({ id }, roster.foundAt), team: 0 })
    if (!roster.teamsUnknown) roster.placed = match?.playerIds.map(placed) ?? []
    roster.requestId = match?.requestId
    roster.assignment = match?.assignment
    lives.adopt(roster)
    return roster
  }

  const end = (match: Match | undefined, roster: Roster | undefined, stop: 'stopped' | 'left') => {
    if (roster !== undefined) lives.dissolve(roster, { reason: 'stopped', stop }, clock.now())
    else if (match !== undefined) allocator.drop(match, stop)
  }

  return {
    running: (matchId) => {
      const match = allocator.find(matchId)
      if (match === undefined && lives.find(matchId) === undefined) throw unknown(matchId)
      if (match?.phase !== 'running') throw new NotRunning(matchId)
      const roster = lives.find(matchId) ?? adopt(matchId, match.queue)
      if (roster?.assignment === undefined) throw new NotRunning(matchId)
      return roster
    },

    playersLeft: (matchId, playerIds) => {
      const match = allocator.find(matchId)
      const roster = lives.find(matchId)
      const queue = match?.queue ?? roster?.queue.name
      if (queue === undefined) throw unknown(matchId)
      // Its server is being stopped, whoever leaves.
      if (match?.unwanted !== undefined) return
      const named = new Set(playerIds)
      const gone = playersIn(match, roster).filter((id) => named.has(id))
      if (gone.length === 0) return
      if (roster !== undefined) lives.desert(roster, gone, clock.now())
      else if (match !== undefined) allocator.setPlayers(match, without(match.playerIds, gone))
      const remaining = lives.find(matchId) === roster ? playersIn(match, roster).length : 0
      events.emit('playersLeft', { matchId, queue, playerIds: gone, remaining })
      if (remaining === 0) end(match, roster, 'left')
    },

    stopMatch: async (matchId) => {
      const match = allocator.find(matchId)
      const roster = lives.find(matchId)
      if (match === undefined && roster === undefined) throw unknown(matchId)
      const ended = match && allocator.whenEnded(match)
      end(match, roster, 'stopped')
      await ended
    },
  }
}

/** A match that asks whether it is accepted is not the allocator's yet. */
const playersIn = (match: Match | undefined, roster: Roster | undefined): readonly string[] =>
  match?.playerIds ?? playersOf(roster?.seated ?? [])

const without = (all: readonly string[], gone: readonly string[]) => all.filter((id) => !gone.includes(id))
