import { z } from 'zod'
import { InvalidBackfill } from '../../errors.js'
import type { TeamShape } from '@muster/kernel'
import { read } from '@muster/core/validation'
import type { RuleTicket } from '../../queues/rules/facts.js'
import { complete, MOST } from '../../tickets/checked-ticket.js'
import { player, ticketId, ticketPriority } from '../../tickets/ticket-input.js'
import { networkOf, type Player } from '@muster/servers'
import type { BackfillChange, BackfillInput, BackfillTeam } from '../../tickets/backfill.js'
import { countPlayers, roomsBeside, type Present, type Vacancies } from '../../tickets/vacancies.js'

const team = z.strictObject({
  name: z.string(),
  slots: z.int().min(0).max(MOST.players).optional(),
  players: z.array(player).max(MOST.players).optional(),
})
const teams = z.array(team).min(1)
const input: z.ZodType<BackfillInput> = z.strictObject({
  id: ticketId.optional(),
  matchId: z.string(),
  teams: teams.optional(),
  priority: ticketPriority.optional(),
})
const change: z.ZodType<BackfillChange> = z.strictObject({ version: z.int().min(1), teams })

const refuse = (field: string, message: string) => new InvalidBackfill(`backfill: ${message}`, { field })

/** @throws {InvalidBackfill} */
export const readBackfillInput = (given: BackfillInput): BackfillInput => read(input, given, refuse)

/** @throws {InvalidBackfill} */
export const readBackfillChange = (given: BackfillChange): BackfillChange => read(change, given, refuse)

export interface VacanciesOptions {
  /** Those of the match. */
  readonly teams: readonly TeamShape[]
  /** Who is in them, as far as that is not given. */
  readonly present: Present
  /** Whether others may be there as well: then what a team lacks has to be told. */
  readonly mayBeMore: boolean
  /** Epoch milliseconds. */
  readonly now: number
}

/**
 * What a match takes of the given teams; of all of them, where none are given, as much as they lack.
 * @throws {InvalidBackfill}
 */
export function vacanciesOf(
  given: readonly BackfillTeam[] | undefined,
  { teams: shapes, present, mayBeMore, now }: VacanciesOptions,
): Vacancies {
  const refuseUnknown = (path: string) =>
    refuse(
      path,
      `${path}: must say slots or players: of a match of an earlier process it is not known who is in which team`,
    )
  if (given === undefined) {
    if (mayBeMore) throw refuseUnknown('teams')
    return { rooms: roomsBeside(shapes, present), present }
  }
  const rooms = shapes.map(() => 0)
  const there = [...present]
  for (const [index, { name, slots, players }] of given.entries()) {
    const at = shapes.findIndex((shape) => shape.name === name)
    const shape = shapes[at]
    if (shape === undefined)
      throw refuse(
        `teams.${index}.name`,
        `teams.${index}.name: the match has no such team, got ${JSON.stringify(name)}`,
      )
    if (mayBeMore && slots === undefined && players === undefined) throw refuseUnknown(`teams.${index}`)
    if (players !== undefined) there[at] = players.map((one) => presentPlayer(one, now))
    const free = shape.max - countPlayers(there[at] ?? [])
    if ((slots ?? 0) > free)
      throw refuse(
        `teams.${index}.slots`,
        `teams.${index}.slots: the team takes ${Math.max(0, free)} more at most, got ${slots}`,
      )
    rooms[at] = slots ?? Math.max(0, free)
  }
  return { rooms, present: there }
}

/** Someone of whom no ticket is known, as rules see them. */
export function presentPlayer(given: Player, now: number): RuleTicket {
  const one = complete(given)
  return { id: one.id, createdAt: now, priority: 0, players: [one], place: one.coordinates, network: networkOf([one]) }
}
