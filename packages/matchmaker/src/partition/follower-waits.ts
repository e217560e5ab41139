import type { Coordinates } from '@muster/core'
import type { LearnedWaits, QueueWait } from '../matches/index.js'
import { createLocating, readBody, type StoredTicket } from '../tickets/index.js'
import type { Locate } from '../locate/mmdb-locate.js'
import { estimateOf, type WaitEstimate, type Kind, type Curves, curvesFrom } from '../wait-times/index.js'

/** Which tickets wait as long as a stored one. */
export interface StoredKind extends Kind {
  readonly queues: readonly string[]
}

/** How long tickets wait, as the process that leads has learned it. */
export interface HeardWaits {
  /** As `Matchmaker.estimateWait`, for a ticket that searches. */
  estimate(kind: StoredKind, waitedMs: number): WaitEstimate | undefined
  /** As `Matchmaker.estimateQueueWaits`. */
  estimateQueueWaits(place?: Coordinates): readonly QueueWait[]
}

export function createHeardWaits(learned: readonly LearnedWaits[]): HeardWaits {
  const queues = learned.map(({ curves, ...one }) => ({ ...one, curves: curvesFrom(curves) }))
  const byName = new Map<string, Curves>(queues.map(({ queue, curves }) => [queue, curves]))
  return {
    estimate: ({ queues: names, ...kind }, waitedMs) => {
      const curves = names.flatMap((name) => {
        const curve = byName.get(name)?.ofKind(kind)
        return curve === undefined ? [] : [curve]
      })
      return estimateOf(curves, waitedMs)
    },
    estimateQueueWaits: (place) =>
      queues.map(({ curves, ...counted }) => {
        const curve = curves.ofPlace(place)
        return { ...counted, estimate: curve && estimateOf([curve], 0) }
      }),
  }
}

/**
 * Creates the function that reads which kind a stored ticket is of; undefined for one of a private match, which waits
 * for nobody.
 * @param locate as a matchmaker's. A place that it promises is not waited for: the ticket counts as one whose place is
 *   not known.
 */
export function createStoredKind(
  locate: Locate | undefined,
): (ticket: Pick<StoredTicket, 'id' | 'body'>) => StoredKind | undefined {
  // The process that leads looks the same places up, and reports what fails.
  const locatePlayers = createLocating(locate, () => {})
  return ({ id, body }) => {
    const { queues, players, privateSeat } = readBody(id, body)
    if (privateSeat !== undefined) return undefined
    const place = locatePlayers(players)
    if (!(place instanceof Promise)) return { queues, players: players.length, place }
    return { queues, players: players.length, place: undefined }
  }
}
