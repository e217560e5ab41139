import { InvalidInput } from '@muster/core'
import { PASSIVE } from './passive-source.js'
import type { OpenSource } from './source.js'

/**
 * The source of enrolled servers. Muster can neither create nor stop them. A server that must end gets an error as the
 * answer to its next report, and then ends its process. A server that has ended is noticed by its silence, see
 * `GameServers`.
 */
export const openEnrolledSource: OpenSource = (on) => ({
  ...PASSIVE,
  prepare: () => {
    throw new InvalidInput('source: servers that enrol cannot be created', { field: 'source' })
  },
  stop: ({ confirmed }) => queueMicrotask(confirmed),
  stopsPending: () => 0,
  oldestStopMs: () => 0,
  // An enrolled server was never created by Muster, so there is nothing to look for.
  find: ({ id }) => queueMicrotask(() => on.absent(id)),
  inspect: () => Promise.resolve(undefined),
})
