import type { Coordinates } from '@muster/core'
import type { LearnedWaits, QueueWait } from '../matches/index.js'
import { createLocating, readBody, type StoredTicket } from '../tickets/index.js'
import type { Locate } from '../locate/index.js'
import { estimateOf, type WaitEstimate, type Kind, type Curves, curvesFrom } from '../wait-times/index.js'

/** The properties of a stored ticket that determine its expected wait. */
export interface StoredKind extends Kind {
  readonly queues: readonly string[]
}

/** Estimated waits, as the leader has learned them. */
export interface LeaderWaits {
  /** Like `Matchmaker.estimateWait`, for a searching ticket. */
  estimate(kind: StoredKind, waitedMs: number): WaitEstimate | undefined
  /** Like `Matchmaker.estimateQueueWaits`. */
  estimateQueueWaits(place?: Coordinates): readonly QueueWait[]
}

export function createLeaderWaits(learned: readonly LearnedWaits[]): LeaderWaits {
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
 * Creates the function that reads the kind of a stored ticket. It returns undefined for a ticket of a private match,
 * which waits for no other players.
 * @param locate a matchmaker's option. If it returns a promise, the location counts as unknown.
 */
export function createStoredKind(
  locate: Locate | undefined,
): (ticket: Pick<StoredTicket, 'id' | 'body'>) => StoredKind | undefined {
  // The leader looks up the same addresses and reports failures, so they are ignored here.
  const locatePlayers = createLocating(locate, () => {})
  return ({ id, body }) => {
    const { queues, players, privateSeat } = readBody(id, body)
    if (privateSeat !== undefined) return undefined
    const place = locatePlayers(players)
    if (!(place instanceof Promise)) return { queues, players: players.length, place }
    return { queues, players: players.length, place: undefined }
  }
}
