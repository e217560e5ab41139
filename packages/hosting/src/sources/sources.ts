import { InvalidInput } from '@muster/core'
import type { Clock, Random } from '@muster/core/clock'
import { createSourceGate, type GateHeld, type SourceGate } from './source-gate.js'
import type { OpenSource, ServerSource, SourceListener } from './source.js'

/** A source in operation, and how much it may be asked for. */
export interface Supplier extends ServerSource {
  readonly gate: SourceGate
}

/** All sources of servers, by name; that without a name is the deployment service, which may be missing. */
export type Sources = ReturnType<typeof createSources>

export interface SourcesOptions {
  /** Opens the deployment service; undefined without one. */
  readonly service: OpenSource | undefined
  /** Opens the others, by name. */
  readonly others: ReadonlyMap<string, OpenSource>
  readonly clock: Pick<Clock, 'now'>
  readonly random: Random
  /** What hears of the servers of a source. */
  readonly listener: (source: string | undefined) => Omit<SourceListener, keyof SourceGateEvents>
}

type SourceGateEvents = Pick<SourceListener, 'answered' | 'unanswered' | 'stopped' | 'unstopped'>

export function createSources({ service, others, clock, random, listener }: SourcesOptions) {
  const open = (name: string | undefined, opening: OpenSource): Supplier => {
    const gate = createSourceGate(random)
    const events: SourceGateEvents = {
      answered: gate.read,
      unanswered: gate.unread,
      stopped: gate.stopped,
      unstopped: gate.unstopped,
    }
    return { ...opening({ ...listener(name), ...events }), gate }
  }
  const ofService = open(undefined, service ?? missingSource(undefined, clock))
  const named = new Map(Array.from(others, ([name, opening]) => [name, open(name, opening)] as const))
  const all = () => [ofService, ...named.values()]

  return {
    /** A source; one that is not configured any more, though there are servers of it, can do nothing. */
    of: (name: string | undefined): Supplier => {
      if (name === undefined) return ofService
      const known = named.get(name) ?? open(name, missingSource(name, clock))
      named.set(name, known)
      return known
    },
    /** Servers that cost money and belong to nothing. */
    strays: () => all().reduce((sum, source) => sum + source.strays(), 0),
    stopsPending: () => all().reduce((sum, source) => sum + source.stopsPending(), 0),
    oldestStopMs: () => Math.max(...all().map((source) => source.oldestStopMs())),
    giveUpSooner: () => {
      for (const source of all()) source.giveUpSooner()
    },
    watch: (now: number) => {
      for (const source of all()) source.watch(now)
    },
    advance: (now: number) => {
      for (const source of all()) source.advance(now)
    },
    close: () => {
      for (const source of all()) source.close()
    },
    /** Why the last room of any source was 0; undefined if all had some. */
    held: (): GateHeld | undefined =>
      all()
        .find(({ gate }) => gate.held() !== undefined)
        ?.gate.held(),
    /** Epoch milliseconds at which the last pause of any source may be over; in the past, or 0, without one. */
    pausedUntil: () => Math.max(...all().map(({ gate }) => gate.pausedUntil())),
  }
}

/**
 * A source of which there are servers in the store and no configuration: they cannot be followed or stopped. Each stop
 * is told as a problem once, and stays pending; the servers are kept until the source is configured again.
 */
const missingSource =
  (name: string | undefined, clock: Pick<Clock, 'now'>): OpenSource =>
  (on) => {
    const [field, what] = name === undefined ? ['service', ''] : ['source', `${JSON.stringify(name)} `]
    const message = `${field}: ${what}is not configured, but has servers. Configure it again.`
    const error = () => new InvalidInput(message, { field })
    /** The handles of servers to be stopped, and when that was ordered. */
    const pending = new Map<string, number>()
    return {
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
      found: () => {},
      claimed: () => {},
      giveUpSooner: () => {},
      ended: () => {},
      strays: () => 0,
      follow: (handle) => on.problem('status', error(), { handle }),
      settle: () => {},
      hint: () => {},
      look: () => Promise.reject(error()),
      logs: undefined,
      capacity: undefined,
      watch: () => {},
      advance: () => {},
      close: () => {},
    }
  }
