import type { QueueCard } from '@muster/console/wire'
import { Problem } from '@muster/core/http'
import { didYouMean } from '@muster/core/validation'
import { defineQueue, describeQueue, type QueueDefinition } from '@muster/matchmaker'
import type { Limits } from '../stories/relaxations.js'
import { hasCode, shownYaml } from './shown-queue.js'

/** The queues in force, as a person reads them. */
export interface QueueCardsSource {
  cards(): readonly QueueCard[]
  limitsOf(name: string): Limits | undefined
  /** @throws {Problem} 404 */
  inForce(name: string): Versioned
}

export interface Versioned {
  readonly definition: QueueDefinition
  readonly version: number
  /** Why nobody may change it here. */
  readonly fixed: string | null
}

interface Known extends Versioned {
  readonly text: string
  readonly card: QueueCard
}

/** @param mayChange whether queues can be changed here at all. */
export function createQueueCards(queues: () => readonly QueueDefinition[], mayChange: boolean): QueueCardsSource {
  const known = new Map<string, Known>()

  const look = (definition: QueueDefinition): Known => {
    const { name } = definition
    const before = known.get(name)
    if (before?.definition === definition) return before
    const text = JSON.stringify(definition)
    const version = before === undefined ? 1 : before.version + (before.text === text ? 0 : 1)
    const { sentences, curves } = describeQueue(defineQueue(definition))
    const fixed = fixedBy(definition, mayChange)
    const card: QueueCard = { name, version, sentences, curves, yaml: shownYaml(definition), fixed }
    const now: Known = { definition, version, fixed, text, card }
    known.set(name, now)
    return now
  }

  const find = (name: string) => {
    const definition = queues().find((queue) => queue.name === name)
    return definition && look(definition)
  }

  return {
    cards: () => queues().map((definition) => look(definition).card),
    limitsOf: (name) => {
      const found = find(name)
      return found && { queue: name, curves: found.card.curves }
    },
    inForce: (name) => {
      const found = find(name)
      if (found !== undefined) return found
      const near = didYouMean(
        name,
        queues().map((queue) => queue.name),
      )
      throw new Problem(404, 'no-such-queue', `there is no queue ${JSON.stringify(name)}${near}`)
    },
  }
}

function fixedBy(definition: QueueDefinition, mayChange: boolean): string | null {
  if (!mayChange) return 'Queues cannot be changed here: change the configuration instead.'
  return hasCode(definition) ? 'It has a rule that is code, which cannot be changed here.' : null
}
