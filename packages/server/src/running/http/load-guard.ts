import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '@muster/core/clock'
import { pathOf } from './answers.js'

/** In the order in which they are refused: what begins something, what changes it, and what reads or ends it. */
export const URGENCIES = ['begin', 'change', 'keep'] as const
export type Urgency = (typeof URGENCIES)[number]

/** The part of the delay that is taken for granted (our choice). */
const CALM_PART = 1 / 4
/** A request that begins something is refused beyond this part of the delay, others beyond twice and four times it. */
const LATE_PART = 1 / 2
/** A delay counts once it has lasted this long: no single pause does. */
const STANDING_MS = 500
/** Levels per second by which refusing grows at twice the calm delay, and shrinks without any delay (our choice). */
const RISE_PER_S = 1
const FALL_PER_S = 0.5
/** A process that slept for long, as a laptop does, says nothing about its load (our choice). */
const LONGEST_STEP_MS = 1000

/**
 * Decides which requests are refused, from how late the process is. Refuses no more than is needed: a share of the
 * requests of one urgency, then all of them and a share of the next. The share grows while the process is late for more
 * than a moment, and shrinks when it no longer is. A request that comes when the process is very late already is
 * refused whatever the share.
 * @param delayMs milliseconds by which an answer may be late in the worst case.
 */
export function createShedding({ delayMs }: { readonly delayMs: number }) {
  const calmMs = delayMs * CALM_PART
  let level = 0
  let notedAt: number | undefined
  /** Delays of the last moments: what none of them is below has lasted. */
  let recent: { readonly at: number; readonly delay: number }[] = []
  const owed = new Map<Urgency, number>()

  return {
    /** Notes how late the process is at an instant. Both in milliseconds. */
    note: (delay: number, now: number): void => {
      const seconds = Math.min(LONGEST_STEP_MS, Math.max(0, now - (notedAt ?? now))) / 1000
      notedAt = now
      // The last one before the window still counts.
      const from = recent.findLastIndex(({ at }) => at <= now - STANDING_MS)
      recent = [...recent.slice(Math.max(0, from)), { at: now, delay }]
      const hasLasted = (recent[0] as { at: number }).at <= now - STANDING_MS
      const standing = hasLasted ? Math.min(...recent.map((one) => one.delay)) : 0
      const excess = Math.min(1, standing / calmMs - 1)
      const change = excess * (excess > 0 ? RISE_PER_S : FALL_PER_S)
      level = Math.min(URGENCIES.length, Math.max(0, level + change * seconds))
    },
    /** Whether a request is refused. @param lateMs how late the process is at this request. */
    refuses: (urgency: Urgency, lateMs: number): boolean => {
      const rank = URGENCIES.indexOf(urgency)
      if (lateMs > delayMs * LATE_PART * 2 ** rank) return true
      const share = Math.min(1, Math.max(0, level - rank))
      if (share === 0) return false
      const due = (owed.get(urgency) ?? 0) + share
      const isRefused = due >= 1
      owed.set(urgency, isRefused ? due - 1 : due)
      return isRefused
    },
    /** From 0, nothing is refused, to 3, everything is. */
    level: () => level,
  }
}

interface LoadGuardOptions {
  /** Milliseconds by which an answer may be late, as configured now. Infinity: nothing is refused. */
  readonly delayMs: () => number
  /**
   * Told at most every ten seconds how many requests were refused since the last time, and how many milliseconds the
   * process is late.
   */
  readonly onShed: (count: number, lateMs: number) => void
  /** Milliseconds that new connections wait to be accepted at most. */
  readonly queuedMs: () => number
  readonly clock: Clock
}

/** Refuses requests early while the process is late, so that those which it takes are answered in time. */
export type LoadGuard = ReturnType<typeof createLoadGuard>

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

export function createLoadGuard({ delayMs, onShed, queuedMs, clock }: LoadGuardOptions) {
  const refused: Record<Urgency, number> = { begin: 0, change: 0, keep: 0 }
  const ending = new AbortController()
  /** When each request began that begins something, and is not answered; the oldest first. */
  const underWay = new Map<ServerResponse, number>()
  let bound = delayMs()
  let shedding = createShedding({ delayMs: bound })
  let lookAt = clock.now() + LOOK_MS
  let lateMs = 0
  let toldAt = -Infinity
  let unreported = 0

  /** How late the event loop is now: it should have looked already. */
  const lag = (now: number) => Math.max(0, now - lookAt)
  const watch = async () => {
    while (!ending.signal.aborted) {
      await clock.sleep(Math.max(0, lookAt - clock.now()), ending.signal)
      const now = clock.now()
      const [oldest = now] = underWay.values()
      lateMs = Math.max(lag(now), ((now - oldest) / AGES) * CALM_PART, queuedMs())
      lookAt = now + LOOK_MS
      if (delayMs() !== bound) shedding = createShedding({ delayMs: (bound = delayMs()) })
      shedding.note(lateMs, now)
      if (unreported > 0) tell(now)
    }
  }
  const tell = (now: number) => {
    if (now - toldAt < TOLD_EVERY_MS) return
    toldAt = now
    onShed(unreported, lateMs)
    unreported = 0
  }
  watch().catch(() => {}) // closed

  return {
    /** Whether a request is taken. One that is taken is watched until it is answered. */
    admits: (message: IncomingMessage, response: ServerResponse) => {
      const urgency = urgencyOf(message)
      const now = clock.now()
      if (bound !== Infinity && shedding.refuses(urgency, lag(now))) {
        refused[urgency] += 1
        unreported += 1
        return false
      }
      if (urgency === 'begin') {
        underWay.set(response, now)
        response.once('close', () => underWay.delete(response))
      }
      return true
    },
    /** Requests that were refused since the start, and from 0 to 3 how much is refused now. */
    counts: (): {
      readonly refused: Readonly<Record<Urgency, number>>
      readonly level: number
      readonly lateMs: number
    } => ({ refused: { ...refused }, level: shedding.level() / URGENCIES.length, lateMs }),
    close: () => ending.abort(),
  }
}
