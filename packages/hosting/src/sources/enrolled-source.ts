import { InvalidInput } from '@muster/core'
import type { OpenSource } from './source.js'

/**
 * Servers that Muster has not started. Nothing is created or stopped: the next report of a server that is not wanted is
 * refused, which ends its process. Nothing but its silence tells the end of one: see `GameServers`.
 */
export const openEnrolledSource: OpenSource = (on) => ({
  prepare: () => {
    throw new InvalidInput('source: servers that enrol cannot be created', { field: 'source' })
  },
  stop: ({ confirmed }) => queueMicrotask(confirmed),
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
