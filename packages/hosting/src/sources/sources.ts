import { InvalidInput } from '@muster/core'
import type { Clock, Random } from '@muster/core/clock'
import { PASSIVE } from './passive-source.js'
import { createSourceCircuitBreaker, type SourceBlock, type SourceCircuitBreaker } from './source-circuit-breaker.js'
import type { OpenSource, ServerSource, SourceListener } from './source.js'

/** A source in operation, with its breaker. */
export interface OpenedSource extends ServerSource {
  readonly breaker: SourceCircuitBreaker
}

/** All sources of servers, by name. The source without a name is the deployment service, which may be missing. */
export type Sources = ReturnType<typeof createSources>

export interface SourcesOptions {
  /** Opens the deployment service. Undefined if there is none. */
  readonly service: OpenSource | undefined
  /** Opens the other sources, by name. */
  readonly others: ReadonlyMap<string, OpenSource>
  readonly clock: Pick<Clock, 'now'>
  readonly random: Random
  /** Creates the listener for the servers of a source. */
  readonly listener: (source: string | undefined) => Omit<SourceListener, keyof SourceCircuitBreaker['listener']>
}

export function createSources({ service, others, clock, random, listener }: SourcesOptions) {
  const open = (name: string | undefined, opening: OpenSource): OpenedSource => {
    const breaker = createSourceCircuitBreaker(random)
    return { ...opening({ ...listener(name), ...breaker.listener }), breaker }
  }
  const ofService = open(undefined, service ?? missingSource(undefined, clock))
  const named = new Map(Array.from(others, ([name, opening]) => [name, open(name, opening)] as const))
  const all = () => [ofService, ...named.values()]

  return {
    /** Returns a source by name. A source that is no longer configured can neither follow nor stop its servers. */
    of: (name: string | undefined): OpenedSource => {
      if (name === undefined) return ofService
      const known = named.get(name) ?? open(name, missingSource(name, clock))
      named.set(name, known)
      return known
    },
    /** All open sources. */
    all,
    /** Returns the number of servers that cost money and belong to nothing. */
    orphans: () => all().reduce((sum, source) => sum + source.orphans(), 0),
    stopsPending: () => all().reduce((sum, source) => sum + source.stopsPending(), 0),
    oldestStopMs: () => Math.max(...all().map((source) => source.oldestStopMs())),
    /** Returns why a source allowed no server when it was last asked. Undefined if every source allowed one. */
    blockedBy: (): SourceBlock | undefined =>
      all()
        .find(({ breaker }) => breaker.blockedBy() !== undefined)
        ?.breaker.blockedBy(),
    /** Returns the epoch milliseconds at which the last pause may be over. In the past, or 0, without a pause. */
    pausedUntil: () => Math.max(...all().map(({ breaker }) => breaker.pausedUntil())),
  }
}

/**
 * A source that has servers in the store but no configuration, so they cannot be followed or stopped. Each stop is
 * reported once as a problem and stays pending. The servers are kept until the source is configured again.
 */
const missingSource =
  (name: string | undefined, clock: Pick<Clock, 'now'>): OpenSource =>
  (on) => {
    const [field, what] = name === undefined ? ['service', ''] : ['source', `${JSON.stringify(name)} `]
    const message = `${field}: ${what}is not configured, but has servers. Configure it again.`
    const error = () => new InvalidInput(message, { field })
    /** The handles of servers that must be stopped, and when that was ordered. */
    const pending = new Map<string, number>()
    return {
      ...PASSIVE,
      prepare: () => {
        throw error()
      },
      stop: ({ handle }) => {
        if (pending.has(handle)) return
        pending.set(handle, clock.now())
        on.problem('stop', error(), { handle })
      },
      stopsPending: () => pending.size,
      oldestStopMs: () => {
        const [oldest] = pending.values()
        return oldest === undefined ? 0 : clock.now() - oldest
      },
      find: ({ id }) => {
        on.problem('find', error(), { id })
        queueMicrotask(() => on.late(id))
      },
      follow: (handle) => on.problem('status', error(), { handle }),
      inspect: () => Promise.reject(error()),
    }
  }
