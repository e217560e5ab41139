import type { Clock } from '@muster/core/clock'
import { PlayerCoolingDown } from '@muster/matchmaker'
import type { Creatable, TicketChecker } from '@muster/matchmaker/partition'
import { cooldownKey, readCooldown } from '../notes.js'
import type { PartitionStore } from '../store/store.js'

export interface CoolingDownOptions {
  readonly store: Pick<PartitionStore, 'read' | 'readNotes'>
  readonly checker: Pick<TicketChecker, 'cooldownsIn'>
  readonly clock: Pick<Clock, 'now'>
}

/**
 * Finds the new tickets whose players may not wait yet, as the leader has noted. A ticket that exists already may be
 * created again.
 */
export type FindCoolingDown = (tickets: readonly Creatable[]) => Promise<ReadonlyMap<Creatable, PlayerCoolingDown>>

interface Question {
  readonly ticket: Creatable
  readonly queue: string
  readonly playerId: string
  readonly key: string
}

const NONE: ReadonlyMap<Creatable, PlayerCoolingDown> = new Map()

export function createFindCoolingDown({ store, checker, clock }: CoolingDownOptions): FindCoolingDown {
  const questionsOf = (ticket: Creatable): Question[] =>
    checker
      .cooldownsIn(ticket.queues)
      .flatMap(({ queue, name }) =>
        ticket.players.map(({ id }) => ({ ticket, queue, playerId: id, key: cooldownKey(name, id) })),
      )

  return async (tickets) => {
    const questions = tickets.flatMap(questionsOf)
    if (questions.length === 0) return NONE
    const texts = await store.readNotes(questions.map(({ key }) => key))
    const now = clock.now()
    const kept = new Map<Creatable, PlayerCoolingDown>()
    for (const [index, { ticket, queue, playerId }] of questions.entries()) {
      const text = texts[index]
      const until = text === undefined ? 0 : readCooldown(text).until
      if (now < until && !kept.has(ticket)) kept.set(ticket, new PlayerCoolingDown(playerId, queue, until, now))
    }
    if (kept.size === 0) return NONE
    const known = await store.read(Array.from(kept.keys(), ({ id }) => id))
    for (const [index, ticket] of [...kept.keys()].entries()) if (known[index] !== undefined) kept.delete(ticket)
    return kept
  }
}
