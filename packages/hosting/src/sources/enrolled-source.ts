import { InvalidInput } from '@muster/core'
import { growingTo } from '@muster/core/internal'
import { LRUCache } from 'lru-cache'
import type { OpenSource } from './source.js'

/** Servers remembered whose end was decided (our choice). */
const REMEMBERED = 10_000

/**
 * Servers that Muster has not started. Nothing is created or stopped: the next report of a server that is not wanted is
 * refused, which ends its process. Nothing but its silence tells the end of one: see `GameServers`.
 */
export function createEnrolledSource() {
  const ended = new LRUCache<string, true>(growingTo(REMEMBERED))
  const open: OpenSource = (on) => ({
    prepare: () => {
      throw new InvalidInput('source: servers that enrol cannot be created', { field: 'source' })
    },
    stop: ({ handle, confirmed }) => {
      ended.set(handle, true)
      queueMicrotask(confirmed)
    },
    stopsPending: () => 0,
    oldestStopMs: () => 0,
    // It was never sent.
    find: ({ id }) => queueMicrotask(() => on.absent(id)),
    found: () => {},
    claimed: () => {},
    giveUpSooner: () => {},
    ended: () => {},
    strays: () => 0,
    follow: () => {},
    settle: () => {},
    hint: () => {},
    look: () => Promise.resolve(undefined),
    logs: undefined,
    capacity: undefined,
    watch: () => {},
    advance: () => {},
    close: () => {},
  })
  return {
    open,
    /** Whether the end of this server was decided lately: the process that it was does not come back. */
    hasEnded: (id: string) => ended.has(id),
  }
}
