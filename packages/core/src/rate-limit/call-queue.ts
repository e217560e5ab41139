import type { Queue, QueueAddOptions } from 'p-queue'
import { createHeap, createList, type Entry, type List } from './collections.js'

type Run = () => Promise<unknown>

interface Call {
  readonly run: Run
  /** Set only for calls that can be aborted, because only these are looked up again. */
  readonly id: string | undefined
  readonly lane: Lane
}

/** The waiting calls of one priority. */
interface Lane {
  readonly priority: number
  readonly calls: List<Call>
}

/**
 * The order of waiting calls, for p-queue: highest priority first, then first come, first served.
 *
 * p-queue's own class keeps one sorted array, and searches it from the front for each call that is aborted:
 * to abort all of 100,000 waiting calls takes it more than a minute (`pnpm bench core` shows 10,000). Here
 * every step takes constant time, except for the first call of a new priority.
 */
export class CallQueue implements Queue<Run, QueueAddOptions> {
  readonly #lanes = new Map<number, Lane>()
  /** Lanes from the highest priority on. An empty lane stays until a lower lane is reached. */
  readonly #order = createHeap<Lane>((a, b) => a.priority > b.priority)
  readonly #abortable = new Map<string, Entry<Call>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  enqueue(run: Run, { priority = 0, signal, id }: Partial<QueueAddOptions> = {}): void {
    this.#add({ run, id: signal && id, lane: this.#lane(priority) })
  }

  dequeue(): Run | undefined {
    for (let lane = this.#order.first(); lane !== undefined; lane = this.#order.first()) {
      const next = lane.calls.first()
      if (next !== undefined) return this.#take(next).run
      this.#order.shift()
      this.#lanes.delete(lane.priority)
    }
    return undefined
  }

  remove(id: string): void {
    const entry = this.#abortable.get(id)
    if (entry !== undefined) this.#take(entry)
  }

  /** Calls that can be aborted, by id. */
  setPriority(id: string, priority: number): void {
    const entry = this.#abortable.get(id)
    if (entry === undefined) throw new ReferenceError(`No call with the id "${id}" and a signal waits.`)
    this.#add({ ...this.#take(entry), lane: this.#lane(priority) })
  }

  filter({ priority = 0 }: Readonly<Partial<QueueAddOptions>>): Run[] {
    return Array.from(this.#lanes.get(priority)?.calls ?? [], (call) => call.run)
  }

  #lane(priority: number): Lane {
    const known = this.#lanes.get(priority)
    if (known !== undefined) return known
    const lane = { priority, calls: createList<Call>() }
    this.#lanes.set(priority, lane)
    this.#order.add(lane)
    return lane
  }

  #add(call: Call): void {
    const entry = call.lane.calls.push(call)
    if (call.id !== undefined) this.#abortable.set(call.id, entry)
    this.#size += 1
  }

  #take(entry: Entry<Call>): Call {
    const call = entry.item
    call.lane.calls.remove(entry)
    if (call.id !== undefined) this.#abortable.delete(call.id)
    this.#size -= 1
    return call
  }
}
