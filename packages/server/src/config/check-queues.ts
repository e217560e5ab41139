import { checkQueue, type Queue } from '@muster/matchmaker'
import type { Fault } from '@muster/core/validation'

/** What is wrong at a path, in words that follow the field. */
export type PathFault = Pick<Fault, 'path' | 'message' | 'wrong'> & {
  /** Whether the name at the end of the path is wrong, and not what it stands for. */
  readonly isOfName?: boolean | undefined
}

const CUSTOM =
  'is a function, which no file can hold: say it by any, all, not, accepts or compare, or use Muster as a library'

/** Checks the queues of a file by the matchmaker itself. The paths are those of the file. */
export function checkQueues(given: readonly unknown[]): { queues: readonly Queue[]; faults: readonly PathFault[] } {
  const checked = given.map(checkQueue)
  const faults = given.flatMap((definition, index) => {
    const customs = customRulesIn(definition, ['queues', String(index)])
    const others = (checked[index]?.faults ?? []).map((fault) => ({
      ...fault,
      path: ['queues', String(index), ...fault.path],
    }))
    const isCustoms = ({ path }: PathFault) => customs.some((rule) => rule.every((key, at) => path[at] === key))
    return [
      ...customs.map((rule) => ({ path: [...rule, 'kind'], message: CUSTOM, wrong: CUSTOM })),
      ...others.filter((fault) => !isCustoms(fault)),
    ]
  })
  return { queues: checked.flatMap(({ queue }) => queue ?? []), faults: [...faults, ...namesGivenTwice(given)] }
}

function namesGivenTwice(given: readonly unknown[]): PathFault[] {
  const names = given.map((queue) => fieldOf(queue, 'name'))
  return names.flatMap((name, index) => {
    const first = names.indexOf(name)
    if (typeof name !== 'string' || first === index) return []
    const wrong = `is the name of queues.${first} too`
    return [{ path: ['queues', String(index), 'name'], message: wrong, wrong }]
  })
}

/** The paths of the rules of kind `custom`. */
function customRulesIn(part: unknown, path: readonly string[]): (readonly string[])[] {
  if (fieldOf(part, 'kind') === 'custom') return [path]
  const rules = fieldOf(part, 'rules')
  const inner = Array.isArray(rules) ? rules.map((rule, at) => [rule as unknown, ['rules', String(at)]] as const) : []
  const not = fieldOf(part, 'rule')
  return [...inner, ...(not === undefined ? [] : [[not, ['rule']] as const])].flatMap(([rule, keys]) =>
    customRulesIn(rule, [...path, ...keys]),
  )
}

const fieldOf = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Readonly<Record<string, unknown>>)[key]
    : undefined
