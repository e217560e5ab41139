import { isDeepStrictEqual } from 'node:util'
import { defineQueue, type QueueDefinition } from '@muster/matchmaker'
import { stringify } from 'yaml'

type Fields = Readonly<Record<string, unknown>>

/** Parts of `deploy` that may be secret: they are neither shown nor lost. */
const HIDDEN = ['environment', 'hiddenEnvironment'] as const
/** Parts of a probe that may be secret. */
const HIDDEN_OF_PROBE = ['url', 'headers', 'payload'] as const

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const without = (value: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)))

const only = (value: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(value).filter(([name, given]) => names.includes(name) && given !== undefined))

/** The queue as YAML, without variables of servers. */
export function shownYaml(queue: QueueDefinition): string {
  const { deploy, ...rest } = queue as QueueDefinition & { readonly deploy?: unknown }
  if (!isFields(deploy)) return stringify(rest, withoutCode)
  const { probe, ...others } = without(deploy, HIDDEN)
  const shown = isFields(probe) ? { ...others, probe: without(probe, HIDDEN_OF_PROBE) } : without(deploy, HIDDEN)
  return stringify({ ...rest, deploy: shown }, withoutCode)
}

/** A custom rule has a function, which no text can hold. */
const withoutCode = (_key: unknown, value: unknown): unknown => (typeof value === 'function' ? undefined : value)

/** Puts back what was not shown, unless the operator wrote it anew. */
export function withHidden(edited: unknown, inForce: QueueDefinition): unknown {
  const { deploy: before } = inForce as { readonly deploy?: unknown }
  if (!isFields(edited) || !isFields(edited['deploy']) || !isFields(before)) return edited
  const deploy = edited['deploy']
  const probe = deploy['probe']
  const probeBefore = before['probe']
  const isSameProbe = isFields(probe) && isFields(probeBefore) && probe['kind'] === probeBefore['kind']
  return {
    ...edited,
    deploy: {
      ...only(before, HIDDEN),
      ...deploy,
      ...(isSameProbe ? { probe: { ...only(probeBefore, HIDDEN_OF_PROBE), ...probe } } : {}),
    },
  }
}

/** Whether two queues deploy the same: a default that is written out, or left out, is no difference. */
export function isSameDeploy(one: QueueDefinition, other: QueueDefinition): boolean {
  const [first, second] = [one, other].map((queue): unknown => {
    const { deploy } = defineQueue({ name: queue.name, matchSize: 2, deploy: queue.deploy })
    return JSON.parse(JSON.stringify(deploy))
  })
  return isDeepStrictEqual(first, second)
}

/** Whether the queue has a rule that is code, which no text can hold. */
export const hasCode = ({ rules = [] }: QueueDefinition): boolean =>
  JSON.stringify(rules).includes('"kind":"custom"')
