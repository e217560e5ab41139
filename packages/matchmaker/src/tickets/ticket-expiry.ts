// pure: the times at which tickets expire or count as absent, and timers
import type { Timed, TicketRecord } from './ticket-record.js'

/** Length of a bucket in milliseconds. */
const BUCKET_MS = 1000

/**
 * Creates timers. Items are in buckets of a second, so that removing an item is quick. Most tickets are matched, and
 * thus removed, long before they expire.
 */
export function createTimers<Item extends Timed>() {
  const buckets = new Map<number, Item[]>()
  const bucketOf = (dueAt: number) => Math.floor(dueAt / BUCKET_MS)

  const remove = (item: Item) => {
    const number = bucketOf(item.dueAt)
    const bucket = item.timerIndex === -1 ? undefined : buckets.get(number)
    const last = bucket?.pop()
    if (bucket === undefined || last === undefined) return
    if (last !== item) {
      bucket[item.timerIndex] = last
      last.timerIndex = item.timerIndex
    }
    item.timerIndex = -1
    if (bucket.length === 0) buckets.delete(number)
  }

  return {
    /** Sets the timer of an item; Infinity for never. */
    set: (item: Item, dueAt: number) => {
      remove(item)
      item.dueAt = dueAt
      if (dueAt === Infinity) return
      const bucket = buckets.get(bucketOf(dueAt)) ?? []
      if (bucket.length === 0) buckets.set(bucketOf(dueAt), bucket)
      item.timerIndex = bucket.length
      bucket.push(item)
    },
    remove,
    /** Removes and returns all due items, the earliest first. */
    takeDue: (now: number) => {
      const due: Item[] = []
      for (const [number, bucket] of buckets) {
        if (number * BUCKET_MS > now) continue
        for (const item of bucket) if (item.dueAt <= now) due.push(item)
      }
      for (const item of due) remove(item)
      return due.toSorted((one, other) => one.dueAt - other.dueAt)
    },
  }
}

/** The queue setting for expiry. */
interface Expiring {
  readonly queue: { readonly expireAfterMs: number }
}

/** Returns the epoch milliseconds at which the first of the ticket's queues drops it. */
export function firstExpiryOf(ticket: { readonly createdAt: number; readonly runtimes: readonly Expiring[] }): number {
  let first = Infinity
  for (const { queue } of ticket.runtimes) first = Math.min(first, ticket.createdAt + queue.expireAfterMs)
  return first
}

/** True if the ticket has waited too long for this queue. @param now epoch milliseconds */
export const isExpiredIn = ({ queue }: Expiring, createdAt: number, now: number): boolean =>
  now - createdAt >= queue.expireAfterMs

/** Reports that a client is present: it reads the ticket now, or waits for its changes. */
export interface PresenceReport {
  readonly ticketId: string
  /** The player whose client it is. Default: each player of the ticket. */
  readonly playerId?: string | undefined
}

/**
 * Returns the milliseconds for which the clients of a ticket may be away; Infinity if none of its queues has
 * `presence`.
 */
function longestAbsence({ runtimes }: TicketRecord): number {
  let longest = Infinity
  for (const { queue } of runtimes)
    if (queue.presence !== undefined) longest = Math.min(longest, queue.presence.withinMs)
  return longest
}

/**
 * Returns the epoch milliseconds at which the ticket counts as absent, unless all of its players are seen again;
 * Infinity without `presence`. A due timer computes the time again, so that a presence report need not move the timer.
 * @param isSuspended true if another process records the reports. Then no client counts as absent.
 * @param upSince the end of this process's last pause in epoch milliseconds. No client could be seen during the pause.
 */
export function absentAt(
  record: TicketRecord,
  { isSuspended, upSince }: { readonly isSuspended: boolean; readonly upSince: number },
  now: number,
): number {
  const longest = longestAbsence(record)
  if (longest === Infinity || isSuspended) {
    record.seenAt = undefined
    return now + longest
  }
  record.seenAt ??= record.players.map(() => now)
  return Math.max(upSince, Math.min(...record.seenAt)) + longest
}

/** Records that the client of a player is present. Without a player: the clients of all players of the ticket. */
export function notePresent({ players, seenAt }: TicketRecord, playerId: string | undefined, now: number): void {
  if (seenAt === undefined) return
  for (let index = 0; index < players.length; index += 1) {
    if (playerId === undefined || players[index]?.id === playerId) seenAt[index] = now
  }
}
