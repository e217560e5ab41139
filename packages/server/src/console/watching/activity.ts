import type { Matchmaker, Ticket } from '@muster/matchmaker'
import { MinuteCount } from './minute-count.js'
import { createQueueActivity, type QueueActivity } from './queue-activity.js'

/** Counts what happens in each queue, by the matchmaker's events. */
export interface Activity {
  of(queue: string): QueueActivity
  /** A ticket has arrived in these queues, of whichever process. */
  arrived(queues: readonly string[]): void
  /** Deployments that the service accepted. */
  readonly creates: MinuteCount
  /** Forgets queues that are no longer there. */
  keep(names: readonly string[]): void
  close(): void
}

export function createActivity(on: Matchmaker['on'], now: () => number, steps: number): Activity {
  const queues = new Map<string, QueueActivity>()
  const creates = new MinuteCount()
  const of = (name: string): QueueActivity => {
    const known = queues.get(name)
    if (known !== undefined) return known
    const made = createQueueActivity(steps)
    queues.set(name, made)
    return made
  }
  /** Players of a private match wait for nobody. */
  const waited = (queue: QueueActivity, tickets: readonly Ticket[]) => {
    for (const { createdAt, matchedAt = createdAt, privateMatch } of tickets)
      if (privateMatch === undefined) queue.waited(matchedAt - createdAt)
  }

  const endings = [
    on('matchFound', ({ queue, tickets }) => {
      const activity = of(queue)
      activity.matched(now())
      waited(activity, tickets)
    }),
    on('joined', ({ queue, tickets }) => waited(of(queue), tickets)),
    on('deploymentCreated', () => creates.add(now())),
  ]
  return {
    of,
    arrived: (names) => {
      for (const name of names) of(name).arrived(now())
    },
    creates,
    keep: (names) => {
      for (const name of queues.keys()) if (!names.includes(name)) queues.delete(name)
    },
    close: () => {
      for (const end of endings) end()
    },
  }
}
