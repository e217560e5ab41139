import type { Clock } from '@muster/core/clock'
import type { SpendBudget } from '@muster/matchmaker'
import type { Lease } from './script.js'

export interface Ask {
  readonly version: string
  readonly isNew: boolean
  /** Servers that exist or may exist, and how many more are wanted. */
  readonly servers: { readonly count: number; readonly ahead: number }
  /** Creates planned since the last ask, and how many more are wanted. */
  readonly creates: { readonly planned: number; readonly ahead: number }
}

/** Least milliseconds between two asks. A matchmaker looks at its budget at every tick, and each look may ask. */
const GAP_MS = 100

/**
 * A partition's part of a budget: it asks ahead for as much as it needs, twice what it has used since it asked last,
 * and gives back what it does not need. While an ask is under way, and after one whose answer was lost, it uses no more
 * than both the old lease and the new one can give.
 *
 * @param least what is asked ahead at least.
 */
export function createPartitionBudget(
  ask: (what: Ask) => Promise<Lease>,
  least: number,
  clock: Clock,
  failed: (error: unknown) => void,
): SpendBudget {
  let version = ''
  let isNew = true
  let cap = 0
  let createsLeft = 0
  /** Planned, and not told yet. */
  let planned = 0
  let used = 0
  let isAsking = false
  let askedAt = Number.NEGATIVE_INFINITY

  const renew = async (count: number) => {
    askedAt = clock.now()
    const ahead = Math.max(least, 2 * used)
    const told = planned
    used = 0
    cap = Math.min(cap, count + ahead)
    createsLeft = Math.min(createsLeft, ahead)
    const lease = await ask({ version, isNew, servers: { count, ahead }, creates: { planned: told, ahead } })
    version = lease.version
    if (lease.granted === undefined) {
      // Another process leads this partition, or did until now.
      isNew = true
      cap = 0
      createsLeft = 0
      planned = 0
      return
    }
    isNew = false
    planned -= told
    cap = lease.granted.servers
    createsLeft = lease.granted.creates - planned
  }

  return {
    servers: (count) => {
      if (!isAsking && clock.now() >= askedAt + GAP_MS) {
        isAsking = true
        renew(count)
          .catch(failed)
          .finally(() => {
            isAsking = false
          })
      }
      return Math.max(0, cap - count)
    },
    creates: () => createsLeft,
    planned: () => {
      planned += 1
      used += 1
      createsLeft -= 1
    },
  }
}
