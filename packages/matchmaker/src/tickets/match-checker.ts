import type { Random } from '@muster/core/clock'
import { InvalidTicket, unknownQueue } from '../errors.js'
import { newId } from '@muster/core/runtime'
import type { TeamShape } from '@muster/kernel'
import { refuseNowhere } from './admission.js'
import type { CheckedTicket, PrivateSeat } from './checked-ticket.js'
import { readMatchInput, refuseMatch, type CheckedMatch, type MatchInput } from './match-input.js'
import type { QueueRuntime } from './records.js'

/** A match that was checked: a ticket for each of its teams. */
export interface MatchTickets {
  readonly id: string
  readonly tickets: readonly (CheckedTicket & { readonly id: string; readonly privateSeat: PrivateSeat })[]
}

/**
 * Checks a match as far as that does not depend on other tickets.
 * @throws {InvalidMatch}; {UnknownQueue}
 */
export function checkMatch(
  input: MatchInput,
  runtimes: ReadonlyMap<string, QueueRuntime>,
  random: Random,
): MatchTickets {
  const match = readMatchInput(input)
  const runtime = runtimes.get(match.queue)
  if (runtime === undefined) throw unknownQueue(match.queue, [...runtimes.keys()])
  refuseTeams(match, runtime.compiled.model.teams)
  const { id = newId(random), queue, teams, asks } = match
  const tickets = teams.map(({ name, players }, index) => ({
    id: `${id}-${index + 1}`,
    queues: [queue],
    players,
    priority: 0,
    privateSeat: { id, team: name, tickets: teams.length, asks },
  }))
  for (const [index, ticket] of tickets.entries()) {
    inMatch(index, () => {
      refuseNowhere(ticket, [runtime])
      runtime.checkEnvironment({ ...ticket, createdAt: 0 })
    })
  }
  return { id, tickets }
}

/** @throws {InvalidMatch} for a team that the queue does not have, and for one with too many players. */
function refuseTeams({ teams, queue }: CheckedMatch, shapes: readonly TeamShape[]): void {
  for (const [index, { name, players }] of teams.entries()) {
    const shape = shapes.find((one) => one.name === name)
    if (shape === undefined) {
      const [where, names] = [`teams.${index}.name`, shapes.slice(0, 8).map((one) => JSON.stringify(one.name))]
      const message = `is no team of queue ${JSON.stringify(queue)}, which has ${names.join(', ')}`
      throw refuseMatch(where, `${where}: ${message}${shapes.length > 8 ? ', …' : ''}, got ${JSON.stringify(name)}`)
    }
    if (players.length > shape.max) {
      const where = `teams.${index}.players`
      throw refuseMatch(where, `${where}: must be at most ${shape.max}, got ${players.length}`)
    }
  }
}

/** Names what is wrong with a ticket by its place in the match. @param index of its team. */
export function inMatch<Result>(index: number | undefined, act: () => Result): Result {
  try {
    return act()
  } catch (error) {
    if (!(error instanceof InvalidTicket)) throw error
    const { field = '' } = error
    if (index === undefined) throw refuseMatch('id', 'id: is that of a match of other teams, or of other tickets')
    const where = `teams.${index}.${field}`
    throw refuseMatch(where, error.message.replace(/^ticket: /, '').replace(field, where))
  }
}
