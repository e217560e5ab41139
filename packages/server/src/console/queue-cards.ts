import { isDeepStrictEqual } from 'node:util'
import type { QueueCard } from '@muster/console/internal'
import { Problem } from '@muster/core/http'
import { didYouMean, isObject } from '@muster/core/internal'
import { defineQueue, describeQueue, type QueueDefinition } from '@muster/matchmaker'
import { stringify } from 'yaml'
import type { QueueLimits } from './stories/index.js'

type Fields = Readonly<Record<string, unknown>>

/** Parts of `deploy` that may be secret. They are not shown, and an edit of the queue keeps them. */
const HIDDEN = ['environment', 'hiddenEnvironment'] as const
/** Parts of a probe that may be secret. */
const HIDDEN_OF_PROBE = ['url', 'headers', 'payload'] as const

const without = (value: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)))

const only = (value: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(value).filter(([name, given]) => names.includes(name) && given !== undefined))

/** Returns a queue as YAML, without the variables of servers. */
function shownYaml(queue: QueueDefinition): string {
  const { deploy, ...rest } = queue as QueueDefinition & { readonly deploy?: unknown }
  // If the queue has a pool, the pool's card shows `deploy`.
  if (!isObject(deploy) || queue.pool !== undefined) return stringify(rest, withoutCode)
  const { probe, ...others } = without(deploy, HIDDEN)
  const shown = isObject(probe) ? { ...others, probe: without(probe, HIDDEN_OF_PROBE) } : without(deploy, HIDDEN)
  return stringify({ ...rest, deploy: shown }, withoutCode)
}

/** JSON replacer that omits functions, because YAML cannot represent the function of a custom rule. */
const withoutCode = (_key: unknown, value: unknown): unknown => (typeof value === 'function' ? undefined : value)

/** Restores the hidden parts of a queue, unless the operator wrote new ones. */
export function withHidden(edited: unknown, inForce: QueueDefinition): unknown {
  const { deploy: before, pool } = inForce as QueueDefinition & { readonly deploy?: unknown }
  if (isObject(edited) && pool !== undefined && edited['pool'] === pool && edited['deploy'] === undefined)
    return { ...edited, deploy: before }
  if (!isObject(edited) || !isObject(edited['deploy']) || !isObject(before)) return edited
  const deploy = edited['deploy']
  const probe = deploy['probe']
  const probeBefore = before['probe']
  const isSameProbe = isObject(probe) && isObject(probeBefore) && probe['kind'] === probeBefore['kind']
  return {
    ...edited,
    deploy: {
      ...only(before, HIDDEN),
      ...deploy,
      ...(isSameProbe ? { probe: { ...only(probeBefore, HIDDEN_OF_PROBE), ...probe } } : {}),
    },
  }
}

/** Returns true if two queues deploy the same. An explicit default is not a difference. */
export function isSameDeploy(one: QueueDefinition, other: QueueDefinition): boolean {
  const [first, second] = [one, other].map((queue): unknown => {
    const { deploy } = defineQueue({ name: queue.name, matchSize: 2, deploy: queue.deploy })
    return JSON.parse(JSON.stringify({ deploy, pool: queue.pool }))
  })
  return isDeepStrictEqual(first, second)
}

/** Returns true if the queue has a custom rule, whose function YAML cannot represent. */
export const hasCode = ({ rules = [] }: QueueDefinition): boolean => JSON.stringify(rules).includes('"kind":"custom"')

/** The current queues as the console shows them. */
export type QueueCardsSource = ReturnType<typeof createQueueCards>

interface Versioned {
  readonly definition: QueueDefinition
  readonly version: number
  /** The reason why the queue cannot be changed here; null if it can. */
  readonly fixed: string | null
}

interface CachedCard extends Versioned {
  readonly text: string
  readonly card: QueueCard
}

/** Creates the cards of the queues. @param mayChange true if queues can be changed here at all. */
export function createQueueCards(queues: () => readonly QueueDefinition[], mayChange: boolean) {
  const known = new Map<string, CachedCard>()

  const cardOf = (definition: QueueDefinition): CachedCard => {
    const { name } = definition
    const before = known.get(name)
    if (before?.definition === definition) return before
    const text = JSON.stringify(definition)
    const version = before === undefined ? 1 : before.version + (before.text === text ? 0 : 1)
    const { sentences, curves } = describeQueue(defineQueue(definition))
    const fixed = fixedBy(definition, mayChange)
    const card: QueueCard = { name, version, sentences, curves, yaml: shownYaml(definition), fixed }
    const now: CachedCard = { definition, version, fixed, text, card }
    known.set(name, now)
    return now
  }

  const find = (name: string) => {
    const definition = queues().find((queue) => queue.name === name)
    return definition && cardOf(definition)
  }

  return {
    cards: (): readonly QueueCard[] => queues().map((definition) => cardOf(definition).card),
    limitsOf: (name: string): QueueLimits | undefined => {
      const found = find(name)
      return found && { queue: name, curves: found.card.curves }
    },
    /** Returns a queue with its version. @throws {Problem} 404 for an unknown name */
    inForce: (name: string): Versioned => {
      const found = find(name)
      if (found !== undefined) return found
      const near = didYouMean(
        name,
        queues().map((queue) => queue.name),
      )
      throw new Problem(404, 'no-such-queue', `There is no queue ${JSON.stringify(name)}${near || '.'}`)
    },
  }
}

function fixedBy(definition: QueueDefinition, mayChange: boolean): string | null {
  if (!mayChange) return 'Queues cannot be changed here: change the configuration instead.'
  return hasCode(definition) ? 'The queue has a rule that is code, which cannot be changed here.' : null
}
