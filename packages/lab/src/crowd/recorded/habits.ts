import { weibullAfter, logNormal } from '../generate/distributions.js'
import { readParameters } from '../generate/parameters.js'
import type { Streams } from '../generate/streams.js'
import { wholeMs } from '../generate/visits.js'
import { patienceCurveOf } from './patience-curve.js'
import type { TicketStory } from './recorded-tickets.js'

/** What is known or supposed of a ticket. Times are epoch milliseconds. */
export interface Habit {
  /** From when it was seen until it gives up, or would have. */
  readonly patienceMs: number
  readonly accepts: boolean
  /** When it gave up; otherwise when it was matched, as far as that is known. */
  readonly waitedUntil: number
  readonly gaveUp: boolean
  readonly playMs: number
  /** Whether it was seen when the match was over. */
  readonly isPlayKnown: boolean
}

export interface Habits {
  /** @param index of the ticket. */
  of(story: TicketStory, index: number): Habit
  readonly knowsPatience: boolean
  readonly knowsPlay: boolean
}

/**
 * Learns from all tickets what each would do.
 * @param waitEnds when each ticket was matched or expired, as far as that is known.
 */
export function createHabits(
  stories: readonly TicketStory[],
  waitEnds: ReadonlyMap<string, number>,
  streams: Streams,
): Habits {
  const { patience, play } = readParameters({})
  const ends = stories.map((story) => endOf(story, waitEnds.get(story.id)))
  // Who waited already when the recording began was seen because of a long wait: they would make everybody patient.
  const seen = stories.flatMap((story, index) => {
    const { waitedUntil, gaveUp } = ends[index] as End
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
    of: (story, index) => {
      const { waitedUntil, gaveUp, playMs } = ends[index] as End
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

interface End {
  readonly waitedUntil: number
  readonly gaveUp: boolean
  /** Undefined if it was not seen how long its match lasted. */
  readonly playMs?: number | undefined
}

function endOf({ seenAt, cancelledAt, acceptedAt, overAt }: TicketStory, waitEnd: number | undefined): End {
  const isLater = (at: number | undefined) => at !== undefined && (cancelledAt === undefined || at <= cancelledAt)
  const wasMatched = isLater(acceptedAt) || isLater(overAt)
  if (cancelledAt !== undefined && !wasMatched) return { waitedUntil: cancelledAt, gaveUp: true }
  const overBy = Math.min(overAt ?? Infinity, cancelledAt ?? Infinity)
  // Of a ticket that was only seen to leave, it is not known how long it waited.
  const waitedUntil = Math.max(seenAt, Math.min(acceptedAt ?? waitEnd ?? seenAt, overBy))
  const isKnown = overBy < Infinity && (acceptedAt ?? waitEnd) !== undefined
  return { waitedUntil, gaveUp: false, playMs: isKnown ? Math.max(1, overBy - waitedUntil) : undefined }
}
