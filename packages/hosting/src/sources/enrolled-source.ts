import { InvalidInput } from '@muster/core'
import { PASSIVE } from './passive-source.js'
import type { OpenSource } from './source.js'

/**
 * Servers that Muster has not started. Nothing is created or stopped. The next report of an unwanted server is
 * rejected, which ends its process. Only silence shows the end of a server, see `GameServers`.
 */
export const openEnrolledSource: OpenSource = (on) => ({
  ...PASSIVE,
  prepare: () => {
    throw new InvalidInput('source: servers that enrol cannot be created', { field: 'source' })
  },
  stop: ({ confirmed }) => queueMicrotask(confirmed),
  stopsPending: () => 0,
  oldestStopMs: () => 0,
  // An enrolled server has no create, so there is none to look for.
  find: ({ id }) => queueMicrotask(() => on.absent(id)),
  inspect: () => Promise.resolve(undefined),
})
