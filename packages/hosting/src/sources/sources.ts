import { InvalidInput } from '@muster/core'
import type { Clock, Random } from '@muster/core/clock'
import { PASSIVE } from './passive-source.js'
import { createSourceCircuitBreaker, type SourceBlock, type SourceCircuitBreaker } from './source-circuit-breaker.js'
import type { OpenSource, ServerSource, SourceListener } from './source.js'

/** An open source with its circuit breaker. */
export interface OpenedSource extends ServerSource {
  readonly breaker: SourceCircuitBreaker
}

/** All sources of servers by name. The deployment service has no name. */
export type Sources = ReturnType<typeof createSources>

export interface SourcesOptions {
  /** Opens the deployment service. Undefined if none is configured. */
  readonly service: OpenSource | undefined
  readonly others: ReadonlyMap<string, OpenSource>
  readonly clock: Pick<Clock, 'now'>
  readonly random: Random
  /** Returns the listener for the servers of a source. */
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
    /** Returns a source by its name. A source that is not configured can neither follow nor stop its servers. */
    of: (name: string | undefined): OpenedSource => {
      if (name === undefined) return ofService
      const known = named.get(name) ?? open(name, missingSource(name, clock))
      named.set(name, known)
      return known
    },
    all,
    /** Returns the number of orphans that may still run. */
    orphans: () => all().reduce((sum, source) => sum + source.orphans(), 0),
    stopsPending: () => all().reduce((sum, source) => sum + source.stopsPending(), 0),
    oldestStopMs: () => Math.max(...all().map((source) => source.oldestStopMs())),
    /** Returns why a source has last allowed no server. Undefined if all sources have allowed one. */
    blockedBy: (): SourceBlock | undefined =>
      all()
        .find(({ breaker }) => breaker.blockedBy() !== undefined)
        ?.breaker.blockedBy(),
    /**
     * Returns the epoch milliseconds of the last probe of all paused sources. In the past, or 0, if there is no pause.
     */
    pausedUntil: () => Math.max(...all().map(({ breaker }) => breaker.pausedUntil())),
  }
}

/**
 * Stands for a source that is not configured but has servers in the store. The servers are kept until the source is
 * configured again. Each stop stays pending, and is reported once as a problem.
 */
const missingSource =
  (name: string | undefined, clock: Pick<Clock, 'now'>): OpenSource =>
  (on) => {
    const [field, what] = name === undefined ? ['service', ''] : ['source', `${JSON.stringify(name)} `]
    const message = `${field}: ${what}is not configured, but has servers. Configure it again.`
    const error = () => new InvalidInput(message, { field })
    /** Handles of servers that must be stopped, and the epoch milliseconds of the order. */
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
