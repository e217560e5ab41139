import type { Random } from '@muster/core/clock'
import { backoffMs } from './backoff.js'

/** What may be spent. */
export interface SpendBound {
  /** Deployments that exist or may exist, at most. */
  readonly maxServers: number
  /** Of these, those to which no players were sent yet, at most. */
  readonly maxStarting: number
  /** Creates sent within any minute, at most. */
  readonly maxCreatesPerMinute: number
}

/** Why nothing may be created now: one of the bounds, or `paused`, because the service took nothing. */
export type Held = keyof SpendBound | 'paused'

/** Says how many deployments may be created now: the bounds, and a pause while the service takes none. */
export interface Governor {
  /** @param count all whose deployment exists or may exist. @param startingCount those of them without players yet. */
  room(matches: { readonly count: number; readonly startingCount: number }, now: number): number
  /** Whether one more create may be sent within this minute, beside those that are planned. */
  mayCreate(now: number): boolean
  /** The create of this match is sent when its turn comes. */
  planned(match: object): void
  /** It is sent. */
  sent(match: object, now: number): void
  /** It never will be. One that was sent stays sent. */
  forgone(match: object): void
  /** A create was answered. */
  succeeded(): void
  /** A create failed for no fault of its match. */
  failed(now: number): void
  /** Why there was no room when it was last asked; undefined if there was. */
  held(): Held | undefined
  /** Epoch milliseconds; in the past, or 0, when there is no pause. */
  pausedUntil(): number
}

/** One or two failures may be bad luck, and the others should not wait for it. */
const FAILURES_BEFORE_PAUSE = 3
const PAUSE = { baseMs: 500, capMs: 30_000 }
const MINUTE_MS = 60_000

export function createGovernor({ maxServers, maxStarting, maxCreatesPerMinute }: SpendBound, random: Random): Governor {
  let failures = 0
  let pausedUntil = 0
  let held: Held | undefined
  const counts = maxCreatesPerMinute < Infinity
  /** When the creates of the last minute were sent, if they are counted. */
  let sentAt: number[] = []
  /** Those that were not sent yet. They count, because nobody knows when their turn comes. */
  const planned = new Set<object>()

  const creatable = (now: number): number => {
    if (!counts) return Infinity
    sentAt = sentAt.filter((at) => at > now - MINUTE_MS)
    return maxCreatesPerMinute - sentAt.length - planned.size
  }

  return {
    room: ({ count, startingCount }, now) => {
      const rooms: readonly (readonly [Held, number])[] = [
        ['paused', now < pausedUntil ? 0 : Infinity],
        ['maxServers', maxServers - count],
        ['maxStarting', maxStarting - startingCount],
        ['maxCreatesPerMinute', creatable(now)],
      ]
      held = rooms.find(([, room]) => room <= 0)?.[0]
      return Math.max(0, Math.min(...rooms.map(([, room]) => room)))
    },
    mayCreate: (now) => creatable(now) > 0,
    planned: (match) => {
      if (counts) planned.add(match)
    },
    sent: (match, now) => {
      planned.delete(match)
      if (counts) sentAt.push(now)
    },
    forgone: (match) => void planned.delete(match),
    succeeded: () => {
      failures = 0
      pausedUntil = 0
    },
    failed: (now) => {
      // Those that were under way together fail together: they make one pause, not one for each.
      if (now < pausedUntil) return
      failures += 1
      const excess = failures - FAILURES_BEFORE_PAUSE + 1
      if (excess > 0) pausedUntil = now + backoffMs(excess, random(), PAUSE)
    },
    held: () => held,
    pausedUntil: () => pausedUntil,
  }
}
