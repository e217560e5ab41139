import type { BackfillRecord } from '../backfill/record.js'
import { createExplain, type Explain } from '../explain/explain.js'
import type { Pool, Round } from '../kernel/model.js'
import { createPool } from '../kernel/pool.js'
import type { Queue } from '../queues/queue.js'
import { compileQueue, type CompiledQueue } from '../rules/compile.js'
import type { Facts } from '../rules/facts.js'
import type { TicketRecord } from './record.js'

/** A queue in operation: its rules made ready for use, and the pool of those that wait in it. */
export interface Lane {
  readonly queue: Queue
  /** What all tickets share that wait in no other. */
  readonly alone: { readonly queues: readonly [string]; readonly lanes: readonly Lane[] }
  readonly compiled: CompiledQueue
  readonly pool: Pool<Facts>
  readonly explain: Explain
  /** Whose slots of the pool they are. */
  readonly records: (TicketRecord | undefined)[]
  readonly backfills: (BackfillRecord | undefined)[]
  /** Tickets that came into the pool since the last round; only where matches are made at arrival. */
  readonly arrivals: Set<TicketRecord>
  /** Called for the first of them. */
  readonly arrived: (lane: Lane) => void
  /** A round that was not over when the time of a tick was. */
  round: Round | undefined
}

/** @param failed is told when a custom rule throws. */
export function createLane(queue: Queue, arrived: (lane: Lane) => void, failed: (error: Error) => void): Lane {
  const compiled = compileQueue(queue, failed)
  const lanes: Lane[] = []
  const lane: Lane = {
    queue,
    alone: { queues: [queue.name], lanes },
    compiled,
    pool: createPool(compiled.model),
    explain: createExplain(compiled),
    records: [],
    backfills: [],
    arrivals: new Set(),
    arrived,
    round: undefined,
  }
  lanes.push(lane)
  return lane
}
