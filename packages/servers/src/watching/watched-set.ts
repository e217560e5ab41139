import { createNewestFirst } from './newest-first.js'
import type { Watched } from './worth.js'

/** The deployments that are followed. */
export interface WatchedSet {
  add(one: Watched): void
  get(requestId: string): Watched | undefined
  /** Whether the deployment is still followed. */
  has(one: Watched): boolean
  /** Marks a deployment as running: it is known to be READY. */
  settle(requestId: string): void
  remove(requestId: string): void
  /** Notes a hint that the deployment has changed. Has no effect on a deployment that is not followed. */
  suspect(one: Watched): void
  /** Withdraws the hint, because the deployment's status is being read. */
  clear(one: Watched): void
  /** All deployments, in the order of their creation. */
  all(): Watched[]
  /** The newest deployments, as far back as one is starting, filled up to whole pages of so many. */
  newestPages(perPage: number): Watched[]
  readonly starting: ReadonlyMap<string, Watched>
  /** Number of running deployments. */
  running(): number
  /** Running deployments that may have ended, by a hint. */
  readonly suspects: ReadonlySet<Watched>
}

export function createWatchedSet(): WatchedSet {
  const watched = new Map<string, Watched>()
  const ordered = createNewestFirst<Watched>()
  const starting = new Map<string, Watched>()
  const suspects = new Set<Watched>()
  const suspect = (one: Watched) => {
    // A sweep may report a deployment that was followed when the sweep began and is not any more.
    if (watched.get(one.requestId) !== one) return
    one.suspect = true
    if (one.phase === 'running') suspects.add(one)
  }
  return {
    add: (one) => {
      watched.set(one.requestId, one)
      ordered.add(one)
      starting.set(one.requestId, one)
    },
    get: (requestId) => watched.get(requestId),
    has: (one) => watched.get(one.requestId) === one,
    settle: (requestId) => {
      starting.delete(requestId)
      const one = watched.get(requestId)
      if (one === undefined) return
      one.phase = 'running'
      if (one.suspect) suspect(one)
    },
    remove: (requestId) => {
      const one = watched.get(requestId)
      if (one !== undefined) suspects.delete(one)
      if (one !== undefined) ordered.delete(one)
      watched.delete(requestId)
      starting.delete(requestId)
    },
    suspect,
    clear: (one) => {
      one.suspect = false
      suspects.delete(one)
    },
    all: () => [...watched.values()],
    newestPages: (perPage) => {
      const newest: Watched[] = []
      let left = starting.size
      for (const one of ordered.newestFirst()) {
        if (left === 0 && newest.length % perPage === 0) break
        newest.push(one)
        if (one.phase === 'starting') left -= 1
      }
      return newest
    },
    starting,
    running: () => watched.size - starting.size,
    suspects,
  }
}
