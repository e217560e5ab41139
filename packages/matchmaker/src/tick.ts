import type { Clock, Random } from '@muster/core/clock'
import type { Allocator } from './allocation/allocator.js'
import type { Events } from './events.js'
import { createGrouping } from './grouping/group.js'
import { newId } from './ids.js'
import type { Queue } from './queue.js'
import { ticketOf, type TicketRecord } from './tickets/record.js'
import type { Tickets } from './tickets/tickets.js'
import type { Watcher } from './watching/watcher.js'

export interface Ticking {
  readonly queues: readonly Queue[]
  readonly tickets: Tickets
  readonly allocator: Allocator
  readonly watcher: Watcher
  readonly events: Events
  readonly clock: Clock
  readonly random: Random
  /** Aborted when no more matches should be made. */
  readonly closing: AbortSignal
}

interface Group {
  readonly queue: Queue
  /** Who goes together. */
  readonly records: readonly TicketRecord[]
}

/**
 * Makes the function that is the matchmaker's main path: admit → group → claim → allocate. From admission
 * to claim nothing is waited for, so two ticks at once do no harm.
 */
export function createTick({
  queues,
  tickets,
  allocator,
  watcher,
  events,
  clock,
  random,
  closing,
}: Ticking): () => Promise<void> {
  const groupings = queues.map((queue) => ({ queue, group: createGrouping(queue) }))

  const groupsOf = (now: number): Group[] =>
    groupings.flatMap(({ queue, group }) => group(tickets.admit(queue, now), now).map((records) => ({ queue, records })))

  /** Takes the tickets of a group, if nobody else has, and begins to get them a server. */
  const claim = ({ queue, records }: Group, now: number): Promise<void> | undefined => {
    const match = { id: newId(random), tickets: records, foundAt: now }
    if (closing.aborted || !tickets.match(records, match.id, now)) return undefined
    const allocated = allocator.allocate(match, queue)
    // Only now, so that a listener may cancel or stop what it hears of.
    events.emit('matchFound', { matchId: match.id, queue: queue.name, tickets: records.map(ticketOf) })
    return allocated
  }

  return async () => {
    const recovered = await allocator.recover()
    const now = clock.now()
    tickets.removeEnded(now)
    allocator.advance(now)
    watcher.look(now)

    let room = recovered ? allocator.room(now) : 0
    const allocations: Promise<void>[] = []
    for (const group of groupsOf(now).toSorted(byOldestTicket)) {
      const allocated = room > 0 ? claim(group, now) : tickets.waitForServers(group.records)
      if (allocated === undefined) continue
      allocations.push(allocated)
      room -= 1
    }
    await Promise.all(allocations)
  }
}

/** Those who wait longest get the next server, whatever their queue. */
const byOldestTicket = (one: Group, other: Group) => oldest(one.records) - oldest(other.records)
const oldest = (records: readonly TicketRecord[]) =>
  records.reduce((least, { createdAt }) => Math.min(least, createdAt), Infinity)
