import type { BackfillRecord } from '../matches/backfill/record.js'
import { createExplain, type Explain } from '../queues/explain/explain.js'
import type { Pool, Round } from '../kernel/model.js'
import { createPool } from '../kernel/pool.js'
import type { Queue } from '../queues/queue.js'
import { compileQueue, type CompiledQueue } from '../queues/compile.js'
import type { Facts } from '../queues/rules/facts.js'
import type { TicketRecord } from './record.js'

/** A queue in operation: its rules made ready for use, and the pool of those that wait in it. */
export interface QueueRuntime {
  readonly queue: Queue
  /** What all tickets share that wait in no other. */
  readonly alone: { readonly queues: readonly [string]; readonly runtimes: readonly QueueRuntime[] }
  readonly compiled: CompiledQueue
  readonly pool: Pool<Facts>
  readonly explain: Explain
  /** Whose slots of the pool they are. */
  readonly records: (TicketRecord | undefined)[]
  readonly backfills: (BackfillRecord | undefined)[]
  /** Tickets that came into the pool since the last round; only where matches are made at arrival. */
  readonly arrivals: Set<TicketRecord>
  /** Called for the first of them. */
  readonly arrived: (runtime: QueueRuntime) => void
  /** A round that was not over when the time of a tick was. */
  round: Round | undefined
}

/** @param failed is told when a custom rule throws. */
export function createQueueRuntime(queue: Queue, arrived: (runtime: QueueRuntime) => void, failed: (error: Error) => void): QueueRuntime {
  const compiled = compileQueue(queue, failed)
  const runtimes: QueueRuntime[] = []
  const runtime: QueueRuntime = {
    queue,
    alone: { queues: [queue.name], runtimes },
    compiled,
    pool: createPool(compiled.model),
    explain: createExplain(compiled),
    records: [],
    backfills: [],
    arrivals: new Set(),
    arrived,
    round: undefined,
  }
  runtimes.push(runtime)
  return runtime
}
