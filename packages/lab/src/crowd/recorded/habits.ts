import { logNormal, type Streams, weibullAfter, wholeMs, readParameters } from '../generate/index.js'
import { firstIndex } from '../../statistics/index.js'
import type { TicketStory } from './recorded-tickets.js'

/** The recorded wait of a ticket in milliseconds, and whether it ended by giving up. */
export interface RecordedWait {
  readonly ms: number
  readonly gaveUp: boolean
}

/** The most patient parties determine the hazard after the longest wait: one in this number of those that gave up. */
const LAST_SHARE = 4

/**
 * Estimates the patience of parties from recorded waits. A matched party would have waited at least until its match, so
 * the estimate is a life table (Kaplan and Meier, 1958). After the longest wait that ended in giving up, the hazard
 * stays at that of the last quarter of the parties that gave up. Returns undefined if nobody gave up, because nothing
 * is known then.
 */
export function patienceCurveOf(seen: readonly RecordedWait[]) {
  const sorted = seen.toSorted((one, other) => one.ms - other.ms || Number(other.gaveUp) - Number(one.gaveUp))
  const [times, staying]: [number[], number[]] = [[], []]
  let [stay, next] = [1, 0]
  while (next < sorted.length) {
    const { ms } = sorted[next] as RecordedWait
    const atRisk = sorted.length - next
    let gone = 0
    for (; next < sorted.length && sorted[next]?.ms === ms; next += 1) gone += Number(sorted[next]?.gaveUp)
    if (gone === 0) continue
    stay *= 1 - gone / atRisk
    times.push(ms)
    staying.push(stay)
  }
  if (times.length === 0) return undefined
  const longest = times.at(-1) as number
  const lastStay = staying.at(-1) as number
  const meanMs = meanAfter(sorted)

  /** Returns the index of the first time after `ms`. */
  const after = (ms: number) => firstIndex(times.length, (index) => (times[index] as number) > ms)
  return {
    /**
     * Returns the patience, in milliseconds, of a party that has already waited for `waitedMs`.
     * @param share from 0 to below 1, e.g. a random number: the share of such parties that give up earlier.
     */
    at: (waitedMs: number, share: number): number => {
      const from = after(waitedMs)
      const stillHere = from === 0 ? 1 : (staying[from - 1] as number)
      const wanted = stillHere * (1 - share)
      const index = Math.max(
        from,
        firstIndex(times.length, (at) => (staying[at] as number) <= wanted),
      )
      if (index < times.length && stillHere > 0) return times[index] as number
      const left = stillHere > 0 && lastStay > 0 ? wanted / lastStay : 1 - share
      return Math.max(waitedMs, longest) - Math.log(Math.min(1, left)) * meanMs
    },
  }
}

/**
 * Returns the mean hazard time in milliseconds after three quarters of the parties that gave up had left. It is the
 * time that all parties waited from then on, divided by the number of them that gave up.
 */
function meanAfter(sorted: readonly RecordedWait[]): number {
  const gone = sorted.filter(({ gaveUp }) => gaveUp)
  const from = gone[Math.floor(gone.length * (1 - 1 / LAST_SHARE))]?.ms ?? 0
  let [waitedMs, many] = [0, 0]
  for (const { ms, gaveUp } of sorted) {
    if (ms < from) continue
    waitedMs += ms - from
    many += Number(gaveUp)
  }
  // The waited time is 0 if all these parties gave up in the same millisecond.
  return waitedMs === 0 ? Math.max(1, from) : waitedMs / many
}

/** The known or assumed behaviour of a ticket's party. Times are epoch milliseconds. */
export interface Habit {
  /** Milliseconds from the ticket's first record until the party gives up, or would have given up. */
  readonly patienceMs: number
  readonly accepts: boolean
  /** When the party gave up; otherwise when it was matched, as far as known. */
  readonly waitedUntil: number
  readonly gaveUp: boolean
  readonly playMs: number
  /** True if the end of the party's match was recorded. */
  readonly isPlayKnown: boolean
}

export type Habits = ReturnType<typeof createHabits>

/**
 * Estimates from all tickets how the party of each ticket behaves.
 * @param waitEnds when each ticket was matched or expired, if known.
 */
export function createHabits(stories: readonly TicketStory[], waitEnds: ReadonlyMap<string, number>, streams: Streams) {
  const { patience, play } = readParameters({})
  const ends = stories.map((story) => endOf(story, waitEnds.get(story.id)))
  // Tickets that already waited when the recording began are omitted. They were recorded because of their long wait, so
  // they would make all parties look patient.
  const seen = stories.flatMap((story, index) => {
    const { waitedUntil, gaveUp } = ends[index] as WaitEnd
    return story.createdAt < story.seenAt ? [] : [{ ms: waitedUntil - story.createdAt, gaveUp }]
  })
  const curve = patienceCurveOf(seen)
  const plays = ends.flatMap(({ playMs }) => playMs ?? [])

  const patienceOf = (waitedMs: number, share: number) =>
    curve?.at(waitedMs, share) ?? weibullAfter(waitedMs, share, patience.medianMs, patience.shape)
  const playOf = (index: number) => {
    const random = streams('play', index)
    return plays[Math.floor(random() * plays.length)] ?? logNormal(random, play.medianMs, play.spread)
  }
  return {
    /** Returns the behaviour for a ticket. @param index index of the ticket in `stories`. */
    of: (story: TicketStory, index: number): Habit => {
      const { waitedUntil, gaveUp, playMs } = ends[index] as WaitEnd
      const waitedMs = waitedUntil - story.createdAt
      const whole = gaveUp ? waitedMs : patienceOf(waitedMs, streams('patience', index)())
      return {
        patienceMs: wholeMs(whole - (story.seenAt - story.createdAt)),
        accepts: story.declined !== true,
        waitedUntil,
        gaveUp,
        playMs: wholeMs(playMs ?? playOf(index)),
        isPlayKnown: playMs !== undefined,
      }
    },
    knowsPatience: curve !== undefined,
    knowsPlay: plays.length > 0,
  }
}

interface WaitEnd {
  readonly waitedUntil: number
  readonly gaveUp: boolean
  /** Milliseconds of play; undefined if the duration of the match is unknown. */
  readonly playMs?: number | undefined
}

function endOf({ seenAt, cancelledAt, acceptedAt, overAt }: TicketStory, waitEnd: number | undefined): WaitEnd {
  const isLater = (at: number | undefined) => at !== undefined && (cancelledAt === undefined || at <= cancelledAt)
  const wasMatched = isLater(acceptedAt) || isLater(overAt)
  if (cancelledAt !== undefined && !wasMatched) return { waitedUntil: cancelledAt, gaveUp: true }
  const overBy = Math.min(overAt ?? Infinity, cancelledAt ?? Infinity)
  // If only the leaving of a ticket's players was recorded, the ticket's wait is unknown.
  const waitedUntil = Math.max(seenAt, Math.min(acceptedAt ?? waitEnd ?? seenAt, overBy))
  const isKnown = overBy < Infinity && (acceptedAt ?? waitEnd) !== undefined
  return { waitedUntil, gaveUp: false, playMs: isKnown ? Math.max(1, overBy - waitedUntil) : undefined }
}
