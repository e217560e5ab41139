import type { Clock } from '../clock.js'
import { within } from '../runtime/race.js'

export interface LongPoll<News> {
  /** Returns the news, or undefined if there is none. */
  readonly read: () => Promise<News | undefined> | News | undefined
  /** Calls `changed` whenever there may be news; returns a function that ends this. */
  readonly subscribe: (changed: () => void) => () => void
  /** Most milliseconds to wait. */
  readonly waitMs: number
  readonly clock: Clock
  readonly signal?: AbortSignal | undefined
}

/**
 * Reads at once, and again after every change, until there is news. Undefined when the time is over.
 * A change that comes while reading is not missed. Rejects with the signal's reason, or what `read` threw.
 */
export async function longPoll<News>({
  read,
  subscribe,
  waitMs,
  clock,
  signal,
}: LongPoll<News>): Promise<News | undefined> {
  const end = clock.now() + waitMs
  let changed = false
  let wake = () => {}
  const unsubscribe = subscribe(() => {
    changed = true
    wake()
  })
  try {
    for (;;) {
      signal?.throwIfAborted()
      changed = false
      const news = await read()
      if (news !== undefined || (!changed && clock.now() >= end)) return news
      if (!changed) await changeOr(end - clock.now())
    }
  } finally {
    unsubscribe()
  }

  async function changeOr(ms: number): Promise<void> {
    const change = new Promise<void>((resolve) => {
      wake = resolve
    })
    await within(change, ms, clock, signal)
  }
}
