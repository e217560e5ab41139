import type { Clock } from '@muster/core/clock'
import { read } from '@muster/core/internal'
import type { TeamShape } from '@muster/kernel'
import { networkOf, type Player } from '@muster/hosting/internal'
import { z } from 'zod'
import { BackfillExists, InvalidBackfill, BackfillVersionConflict, UnknownBackfill } from '../errors.js'
import type { RuleTicket } from '../queues/index.js'
import {
  backfillOf,
  type BackfillRecord,
  type Match,
  type BackfillChange,
  type BackfillInput,
  type BackfillTeam,
  countPlayers,
  type PresentTeams,
  presentIn,
  roomsBeside,
  type Vacancies,
  complete,
  MOST,
  player,
  ticketId,
  ticketPriority,
} from '../tickets/index.js'
import type { Backfills } from './backfills.js'
import type { Matchmaker } from './matchmaker.js'

const team = z.strictObject({
  name: z.string(),
  slots: z.int().min(0).max(MOST.players).optional(),
  players: z.array(player).max(MOST.players).optional(),
})
const teamsSchema = z.array(team).min(1)
const input: z.ZodType<BackfillInput> = z.strictObject({
  id: ticketId.optional(),
  matchId: z.string(),
  teams: teamsSchema.optional(),
  seats: z.int().min(1).max(MOST.players).optional(),
  priority: ticketPriority.optional(),
})
const change: z.ZodType<BackfillChange> = z.strictObject({ version: z.int().min(1), teams: teamsSchema })

const invalidBackfill = (field: string, fieldAndFault: string) =>
  new InvalidBackfill(`backfill: ${fieldAndFault}`, { field })

/** Validates the input of a backfill. @throws {InvalidBackfill} */
const readBackfillInput = (given: BackfillInput): BackfillInput => read(input, given, invalidBackfill)

/** Validates the change of a backfill. @throws {InvalidBackfill} */
const readBackfillChange = (given: BackfillChange): BackfillChange => read(change, given, invalidBackfill)

interface VacanciesOptions {
  /** The team shapes of the match. */
  readonly teams: readonly TeamShape[]
  /** The present players, if the input does not name them. */
  readonly present: PresentTeams
  /** True if unknown players may be present too. Then the input must say what each team lacks. */
  readonly mayBeMore: boolean
  /** Epoch milliseconds. */
  readonly now: number
}

/** Returns the places that a match opens in the given teams. Without given teams: all missing places of all teams. */
function vacanciesOf(
  given: readonly BackfillTeam[] | undefined,
  { teams: shapes, present, mayBeMore, now }: VacanciesOptions,
): Vacancies {
  const unknownTeam = (path: string) =>
    invalidBackfill(
      path,
      `${path}: must have slots or players: after a restart, Muster does not know who is in which team`,
    )
  if (given === undefined) {
    if (mayBeMore) throw unknownTeam('teams')
    return { rooms: roomsBeside(shapes, present), present }
  }
  const rooms = shapes.map(() => 0)
  const there = [...present]
  for (const [index, { name, slots, players }] of given.entries()) {
    const at = shapes.findIndex((shape) => shape.name === name)
    const shape = shapes[at]
    if (shape === undefined)
      throw invalidBackfill(
        `teams.${index}.name`,
        `teams.${index}.name: the match has no such team, got ${JSON.stringify(name)}`,
      )
    if (mayBeMore && slots === undefined && players === undefined) throw unknownTeam(`teams.${index}`)
    if (players !== undefined) there[at] = players.map((one) => presentPlayer(one, now))
    const free = shape.max - countPlayers(there[at] ?? [])
    if ((slots ?? 0) > free)
      throw invalidBackfill(
        `teams.${index}.slots`,
        `teams.${index}.slots: must be at most ${Math.max(0, free)}, the free places of the team, got ${slots}`,
      )
    rooms[at] = slots ?? Math.max(0, free)
  }
  return { rooms, present: there }
}

/** Reduces the free places of the teams to a total of `seats`. The teams that lack most keep theirs. */
function atMost(rooms: readonly number[], seats: number): readonly number[] {
  const taken = rooms.map(() => 0)
  const left = (at: number) => (rooms[at] ?? 0) - (taken[at] ?? 0)
  const all = rooms.reduce((sum, room) => sum + room, 0)
  for (let count = Math.min(seats, all); count > 0; count -= 1) {
    const roomiest = rooms.reduce((best, _, at) => (left(at) > left(best) ? at : best), 0)
    taken[roomiest] = (taken[roomiest] ?? 0) + 1
  }
  return taken
}

/** No team has a free place. A backfill is possible again once somebody has left. */
export class MatchIsFull extends InvalidBackfill {}

/** Returns a player without a known ticket, in the form that rules read. */
export function presentPlayer(given: Player, now: number): RuleTicket {
  const one = complete(given)
  return { id: one.id, createdAt: now, priority: 0, players: [one], place: one.coordinates, network: networkOf([one]) }
}

interface Backfilling {
  readonly backfills: Backfills
  /** Returns a match whose server runs. @throws {UnknownMatch}; {MatchNotRunning} */
  readonly running: (matchId: string) => Match
  readonly clock: Clock
}

/** Creates the backfill commands of a game server. */
export function createBackfillCommands({
  backfills,
  running,
  clock,
}: Backfilling): Pick<Matchmaker, 'createBackfill' | 'getBackfill' | 'updateBackfill' | 'cancelBackfill'> {
  const known = (id: string): BackfillRecord => {
    const record = backfills.find(id)
    if (record === undefined)
      throw new UnknownBackfill(`There is no backfill ${JSON.stringify(id)}. Its match may have ended.`)
    return record
  }

  return {
    createBackfill: (given) => {
      const { id, matchId, teams, seats = MOST.players, priority } = readBackfillInput(given)
      const before = id === undefined ? undefined : backfills.find(id)
      if (before?.match.matchId === matchId) return backfillOf(before)
      if (before !== undefined) {
        throw new InvalidBackfill(
          `backfill: id: ${JSON.stringify(id)} already belongs to a backfill of another match. Use a new id.`,
          {
            field: 'id',
          },
        )
      }
      const match = running(matchId)
      if (match.backfill !== undefined) throw new BackfillExists(matchId, match.backfill.id)
      const vacancies = vacanciesOf(teams, {
        teams: match.teams,
        present: presentIn(match.teams, match.placed),
        mayBeMore: match.teamsUnknown,
        now: clock.now(),
      })
      if (vacancies.rooms.every((room) => room === 0)) {
        throw new MatchIsFull(
          'backfill: teams: no team has a free place. Report players who left with playersLeft().',
          { field: 'teams' },
        )
      }
      const rooms = atMost(vacancies.rooms, seats)
      return backfillOf(backfills.open(match, { ...vacancies, rooms }, { id, priority }))
    },

    getBackfill: (id) => {
      const record = backfills.find(id)
      return record && backfillOf(record)
    },

    updateBackfill: (id, given) => {
      const { version, teams } = readBackfillChange(given)
      const record = known(id)
      if (record.version !== version || record.status !== 'OPEN') throw new BackfillVersionConflict(id, record.version)
      const { match, present } = record
      const options = { teams: match.teams, present, mayBeMore: match.teamsUnknown, now: clock.now() }
      backfills.change(record, vacanciesOf(teams, options))
      return backfillOf(record)
    },

    cancelBackfill: (id) => {
      const record = known(id)
      backfills.cancel(record)
      return backfillOf(record)
    },
  }
}
