import type { Clock } from '@muster/core/clock'
import { createTicker, jsonIn } from '@muster/core/internal'
import type { EventStore } from '../event-store.js'

/*
 * The way of an event to `taken`, by the kind of store:
 *
 *   add ──▶ taken                                   without a store
 *   add ──▶ taken, and in batches ──▶ folder        of one process; what the folder holds comes first after a start
 *   add ──▶ in batches ──▶ Redis ──▶ taken          of several processes; each follows what all of them append
 */

/** Events that are passed to `taken`, and that outlive the process if there is a store. */
export interface EventHistory<Event> {
  add(event: Event): void
  /** Resolves once `taken` got the events of earlier processes, or once reading them has failed. */
  loaded(): Promise<void>
  /** Writes the events that are not written yet. Another call changes nothing. */
  close(): Promise<void>
}

export interface EventHistoryOptions<Event> {
  readonly store: EventStore | undefined
  readonly clock: Clock
  /** Called with each event of any process, in order of time. */
  readonly taken: (event: Event) => void
  readonly failed: (error: unknown) => void
}

/** Milliseconds between two writes to the store. A crash loses at most this much of the history. */
const BATCH_MS = 500
/**
 * Milliseconds after the start until the history is read, unless a search needs it earlier. The delay gives players
 * priority.
 */
const LOAD_AFTER_MS = 5000
/**
 * Maximum number of events that wait to be written (our choice). Beyond it the oldest are dropped, while the store is
 * unreachable.
 */
const MOST_PENDING = 50_000

export function createEventHistory<Event extends { readonly at: number }>(
  options: EventHistoryOptions<Event>,
): EventHistory<Event> {
  const { store, clock, taken, failed } = options
  if (store === undefined) return { add: taken, loaded: async () => {}, close: async () => {} }
  const { isShared } = store
  let pending: string[] = []
  let dropped = 0
  /** Events of this process that occurred before the history was read. Undefined afterwards. */
  let early: Event[] | undefined = isShared ? undefined : []
  let loading: Promise<void> | undefined
  let closed: Promise<void> | undefined
  const closing = new AbortController()

  const load = async (): Promise<void> => {
    try {
      await store.follow((texts) => {
        for (const text of texts) {
          const event = readEvent<Event>(text)
          if (event !== undefined) taken(event)
        }
      })
    } catch (error) {
      failed(error)
    }
    for (const event of early ?? []) taken(event)
    early = undefined
  }
  const loaded = () => (loading ??= load())

  const write = async (): Promise<void> => {
    const texts = pending
    pending = []
    if (dropped > 0)
      failed(new Error(`${dropped} events are missing from the history because they could not be written.`))
    dropped = 0
    try {
      await store.append(texts)
    } catch (error) {
      // The store may have written some of these strings. Writing them again would duplicate those, so all are given
      // up.
      dropped += texts.length
      failed(error)
    }
  }
  const writing = createTicker({ clock, everyMs: BATCH_MS, tick: write, isNeeded: () => pending.length > 0 })
  // A shared history is followed from the start, because other processes write to it.
  if (isShared) void loaded()
  else void clock.sleep(LOAD_AFTER_MS, closing.signal).then(loaded, () => {}) // The history was closed.

  const close = async (): Promise<void> => {
    closing.abort()
    await writing.stop()
    if (pending.length > 0) await write()
    await store.close()
  }
  return {
    add: (event) => {
      if (!isShared && early === undefined) taken(event)
      else early?.push(event)
      if (pending.length === MOST_PENDING) {
        pending = pending.slice(MOST_PENDING / 2)
        dropped += MOST_PENDING / 2
      }
      pending.push(JSON.stringify(event))
      writing.wake()
    },
    loaded,
    close: () => (closed ??= close()),
  }
}

/** Parses a stored event; undefined for a line that a crash has cut. */
function readEvent<Event>(text: string): Event | undefined {
  const event = jsonIn(text) as { readonly at?: unknown } | null | undefined
  return typeof event?.at === 'number' ? (event as Event) : undefined
}
