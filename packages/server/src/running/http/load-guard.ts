import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '@muster/core/clock'
import { pathOf } from './answers.js'

/**
 * The kinds of requests, in the order in which they are refused: requests that begin something, that change it, and
 * that read or end it.
 */
export const URGENCIES = ['begin', 'change', 'keep'] as const
export type Urgency = (typeof URGENCIES)[number]

/** Delays below this share of the allowed delay count as no load (our choice). */
const CALM_PART = 1 / 4
/**
 * If the present delay exceeds this share of the allowed delay, each request that begins something is refused. The
 * thresholds for `change` and `keep` are twice and four times as high.
 */
const LATE_PART = 1 / 2
/** Milliseconds for which a delay must last to count, so that a single pause does not count. */
const STANDING_MS = 500
/**
 * Change of the refusal level per second (our choice): its growth at twice the calm delay, and its decrease without any
 * delay.
 */
const RISE_PER_S = 1
const FALL_PER_S = 0.5
/**
 * Maximum milliseconds between two measurements that count. A longer gap, e.g. of a sleeping laptop, says nothing about
 * the load (our choice).
 */
const LONGEST_STEP_MS = 1000

/**
 * Decides which requests are refused, by the delay of the process. It refuses only a share of the requests of one
 * urgency, then all of them and a share of the next urgency. The share grows while a delay lasts, and shrinks
 * afterwards. During a very long delay, every request is refused regardless of the share.
 * @param delayMs maximum milliseconds that a response may be delayed.
 */
export function createShedding({ delayMs }: { readonly delayMs: number }) {
  const calmMs = delayMs * CALM_PART
  let level = 0
  let notedAt: number | undefined
  /** Recent delays. Their minimum is a delay that has lasted for the whole window. */
  let recent: { readonly at: number; readonly delay: number }[] = []
  const owed = new Map<Urgency, number>()

  return {
    /** Records the delay of the process. Both parameters are milliseconds. */
    note: (delay: number, now: number): void => {
      const seconds = Math.min(LONGEST_STEP_MS, Math.max(0, now - (notedAt ?? now))) / 1000
      notedAt = now
      // The last measurement before the window still counts, because its delay may have lasted into the window.
      const from = recent.findLastIndex(({ at }) => at <= now - STANDING_MS)
      recent = [...recent.slice(Math.max(0, from)), { at: now, delay }]
      const hasLasted = (recent[0] as { at: number }).at <= now - STANDING_MS
      const standing = hasLasted ? Math.min(...recent.map((one) => one.delay)) : 0
      const excess = Math.min(1, standing / calmMs - 1)
      const change = excess * (excess > 0 ? RISE_PER_S : FALL_PER_S)
      level = Math.min(URGENCIES.length, Math.max(0, level + change * seconds))
    },
    /** Returns true if a request is refused. @param lateMs milliseconds of delay at this request. */
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
    /** Returns the level of refusal, from 0 (no request is refused) to 3 (every request is refused). */
    level: () => level,
  }
}

interface LoadGuardOptions {
  /**
   * Returns the maximum milliseconds that a response may be delayed, from the current configuration. Infinity: no
   * request is refused.
   */
  readonly delayMs: () => number
  /**
   * Called at most every ten seconds, with the number of requests refused since the last call and the delay in
   * milliseconds.
   */
  readonly onShed: (count: number, lateMs: number) => void
  /** Returns the maximum milliseconds that new connections may have waited to be accepted. */
  readonly queuedMs: () => number
  readonly clock: Clock
}

/** Refuses requests early while the process is delayed, so that accepted requests are answered in time. */
export type LoadGuard = ReturnType<typeof createLoadGuard>

/** Milliseconds between two checks of how late the event loop is (our choice). */
const LOOK_MS = 100
/**
 * Multiple of the allowed delay from which on the age of a request that begins something counts as load (our choice).
 * Such a request may fetch profiles or write files.
 */
const AGES = 2
const TOLD_EVERY_MS = 10_000

const BEGINS =
  /^\/(tickets(\/batch)?|group-tickets|groups(\/[^/]+\/members)?|matches|backfills|lobbies(\/[^/]+)?(\/join)?)$/

/** Returns the urgency of a request, by its method and path. */
export function urgencyOf(message: IncomingMessage): Urgency {
  const { method = 'GET' } = message
  if (method === 'POST') return BEGINS.test(pathOf(message)) ? 'begin' : 'change'
  return method === 'PUT' || method === 'PATCH' ? 'change' : 'keep'
}

export function createLoadGuard({ delayMs, onShed, queuedMs, clock }: LoadGuardOptions) {
  const refused: Record<Urgency, number> = { begin: 0, change: 0, keep: 0 }
  const ending = new AbortController()
  /** Start times of the unanswered requests that begin something, the oldest first. */
  const underWay = new Map<ServerResponse, number>()
  let bound = delayMs()
  let shedding = createShedding({ delayMs: bound })
  let lookAt = clock.now() + LOOK_MS
  let lateMs = 0
  let toldAt = -Infinity
  let unreported = 0

  /** Returns the current delay of the event loop: the milliseconds by which the next measurement is overdue. */
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
  watch().catch(() => {}) // The guard was closed.

  return {
    /** Returns true if a request is accepted. An accepted request is observed until its response. */
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
    /** Returns the number of refused requests since the start, and the current level of refusal from 0 to 1. */
    counts: (): {
      readonly refused: Readonly<Record<Urgency, number>>
      readonly level: number
      readonly lateMs: number
    } => ({ refused: { ...refused }, level: shedding.level() / URGENCIES.length, lateMs }),
    close: () => ending.abort(),
  }
}
