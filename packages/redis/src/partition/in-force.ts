import { createHash } from 'node:crypto'
import type { QueueDefinition } from '@muster/matchmaker'
import { readStored } from './store/stored-json.js'

/** The queues by which the leader matches. */
export interface QueuesInForce {
  /** Fingerprint of the definitions: equal definitions have equal ones. */
  readonly fingerprint: string
  readonly names: readonly string[]
  /** Milliseconds by the name of each queue that asks for presence. */
  readonly presence?: Readonly<Record<string, number>> | undefined
  /** Name of the process that leads by them. */
  readonly by: string
  /** Epoch milliseconds, by the clock of Redis. */
  readonly since: number
}

/** A fingerprint of 16 characters. Of a custom rule, the text of its function counts. */
export function fingerprintOf(queues: readonly QueueDefinition[]): string {
  const text = JSON.stringify(queues, (_key, value: unknown) => {
    if (typeof value === 'function') return String(value)
    if (value === Infinity) return 'Infinity'
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
  })
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

export const inForceText = (queues: readonly QueueDefinition[], by: string): string =>
  JSON.stringify({
    fingerprint: fingerprintOf(queues),
    names: queues.map(({ name }) => name),
    presence: presenceOf(queues),
    by,
  } satisfies Omit<QueuesInForce, 'since'>)

function presenceOf(queues: readonly QueueDefinition[]): QueuesInForce['presence'] {
  const asking = queues.flatMap(({ name, presence }) => (presence === undefined ? [] : [[name, presence.withinMs]]))
  return asking.length === 0 ? undefined : (Object.fromEntries(asking) as QueuesInForce['presence'])
}

export const readInForce = (text: string, since: number): QueuesInForce => ({
  ...readStored<Omit<QueuesInForce, 'since'>>(text, 'list of queues in force'),
  since,
})
