import { UnknownQueue, type InvalidTicket } from '../errors.js'
import { moveTo } from './pool-membership.js'
import type { QueueRuntime, TicketRecord } from './records.js'
import type { Searching } from './searching.js'
import { hasEnded } from './ticket.js'

export interface RefusedTicket {
  readonly record: TicketRecord
  /** Name of the queue that refuses the ticket. */
  readonly queue: string
  readonly error: InvalidTicket | UnknownQueue
}

/** Moves all tickets to new runtimes. Returns those that one of their queues refuses now. */
export function moveAll(
  byId: Pick<Map<string, TicketRecord>, 'values'>,
  runtimes: ReadonlyMap<string, QueueRuntime>,
  searching: Pick<Searching, 'settle'>,
  now: number,
): RefusedTicket[] {
  const refused: RefusedTicket[] = []
  for (const record of byId.values()) {
    if (hasEnded(record)) continue
    for (const queue of record.queues) {
      if (runtimes.has(queue)) continue
      const error = new UnknownQueue(`there is no queue ${JSON.stringify(queue)} any more`)
      refused.push({ record, queue, error })
    }
    moveTo(
      record,
      record.queues.flatMap((queue) => runtimes.get(queue) ?? []),
    )
  }
  for (const record of byId.values())
    searching.settle(
      record,
      now,
      undefined,
      ({ queue }, error) => void refused.push({ record, queue: queue.name, error }),
    )
  return refused
}
