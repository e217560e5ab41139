import { performance } from 'node:perf_hooks'
import type { Client } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import type { Matchmaker } from '@muster/matchmaker'
import { causeOf, type Cause, type Pressure } from './bound.js'

/**
 * Milliseconds between two readings. Creates come in one burst per second, so their rate is measured over two seconds.
 * A reading visits all tickets, so it is not made more often.
 */
const LOOK_EVERY_MS = 2000

/** Starts a meter of what limits the creation of servers. It measures from the first match on. */
export function startPressureMeter(
  matchmaker: Pick<Matchmaker, 'on' | 'inspect'>,
  { events }: Pick<Client, 'events'>,
  clock: Clock,
): { read(): Pressure } {
  const causes = new Map<Cause, number>()
  const over = new AbortController()
  let creates = 0
  let began: Reading | undefined

  const reading = (): Reading => ({ at: clock.now(), creates, loop: performance.eventLoopUtilization() })
  const since = (then: Reading) => ({
    seconds: (clock.now() - then.at) / 1000,
    creates: creates - then.creates,
    busy: performance.eventLoopUtilization(then.loop).utilization,
  })
  const look = async (first: Reading) => {
    for (let last = first; ; last = reading()) {
      await clock.sleep(LOOK_EVERY_MS, over.signal)
      const measured = since(last)
      const cause = causeOf({ ...measured, blockedBy: matchmaker.inspect().blockedBy })
      if (cause !== undefined) causes.set(cause, (causes.get(cause) ?? 0) + measured.seconds)
    }
  }
  matchmaker.on('matchFound', () => {
    if (began !== undefined) return
    began = reading()
    look(began).catch(() => {}) // was read
  })
  const sent = ({ operation }: { readonly operation: string }) =>
    void (creates += operation === 'deployments.create' ? 1 : 0)
  events.on('request', sent)

  return {
    read: () => {
      over.abort()
      events.off('request', sent)
      const measured = began === undefined ? { seconds: 0, creates: 0, busy: 0 } : since(began)
      return { ...measured, causes: Object.fromEntries(causes) }
    },
  }
}

interface Reading {
  readonly at: number
  readonly creates: number
  readonly loop: ReturnType<typeof performance.eventLoopUtilization>
}
