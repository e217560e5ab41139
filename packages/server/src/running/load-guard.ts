import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '@muster/core/clock'
import { pathOf } from './answers.js'
import { CALM_PART, createShedding, URGENCIES, type Urgency } from './shedding.js'

export interface LoadGuardOptions {
  /** Milliseconds by which an answer may be late, as configured now. Infinity: nothing is refused. */
  readonly delayMs: () => number
  /** Told at most every ten seconds how many requests were refused since the last time. */
  readonly onShed: (count: number) => void
  readonly clock: Clock
}

/** Refuses requests early while the process is late, so that those which it takes are answered in time. */
export interface LoadGuard {
  /** Whether a request is taken. One that is taken is watched until it is answered. */
  admits(message: IncomingMessage, response: ServerResponse): boolean
  /** Requests that were refused since the start, and from 0 to 3 how much is refused now. */
  counts(): { readonly refused: Readonly<Record<Urgency, number>>; readonly level: number; readonly lateMs: number }
  close(): void
}

/** Milliseconds between two looks at how late the event loop is (our choice). */
const LOOK_MS = 100
/** What begins something may take as many times the delay: profiles are fetched, files written (our choice). */
const AGES = 2
const TOLD_EVERY_MS = 10_000

const BEGINS =
  /^\/(tickets(\/batch)?|group-tickets|groups(\/[^/]+\/members)?|matches|backfills|lobbies(\/[^/]+)?(\/join)?)$/

/** What a request is about, by its method and path alone. */
export function urgencyOf(message: IncomingMessage): Urgency {
  const { method = 'GET' } = message
  if (method === 'POST') return BEGINS.test(pathOf(message)) ? 'begin' : 'change'
  return method === 'PUT' || method === 'PATCH' ? 'change' : 'keep'
}

export function createLoadGuard({ delayMs, onShed, clock }: LoadGuardOptions): LoadGuard {
  const refused: Record<Urgency, number> = { begin: 0, change: 0, keep: 0 }
  const ending = new AbortController()
  /** When each request began that begins something, and is not answered; the oldest first. */
  const underWay = new Map<ServerResponse, number>()
  let bound = delayMs()
  let shedding = createShedding({ delayMs: bound })
  let lookAt = clock.now() + LOOK_MS
  let lateMs = 0
  let toldAt = -Infinity
  let untold = 0

  /** How late the event loop is now: it should have looked already. */
  const lag = (now: number) => Math.max(0, now - lookAt)
  const watch = async () => {
    while (!ending.signal.aborted) {
      await clock.sleep(Math.max(0, lookAt - clock.now()), ending.signal)
      const now = clock.now()
      const [oldest = now] = underWay.values()
      lateMs = Math.max(lag(now), ((now - oldest) / AGES) * CALM_PART)
      lookAt = now + LOOK_MS
      if (delayMs() !== bound) shedding = createShedding({ delayMs: (bound = delayMs()) })
      shedding.note(lateMs, now)
      if (untold > 0) tell(now)
    }
  }
  const tell = (now: number) => {
    if (now - toldAt < TOLD_EVERY_MS) return
    toldAt = now
    onShed(untold)
    untold = 0
  }
  watch().catch(() => {}) // closed

  return {
    admits: (message, response) => {
      const urgency = urgencyOf(message)
      const now = clock.now()
      if (bound !== Infinity && shedding.refuses(urgency, lag(now))) {
        refused[urgency] += 1
        untold += 1
        return false
      }
      if (urgency === 'begin') {
        underWay.set(response, now)
        response.once('close', () => underWay.delete(response))
      }
      return true
    },
    counts: () => ({ refused: { ...refused }, level: shedding.level() / URGENCIES.length, lateMs }),
    close: () => ending.abort(),
  }
}
