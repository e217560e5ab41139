import type { Clock } from '../time.js'
import { linkedSignal, within } from '../runtime/index.js'

/** One server-sent event. */
export interface StreamEvent {
  /** The id that a client sends as Last-Event-ID when it resumes. No line breaks. */
  readonly id?: string | undefined
  /** The event's type. No line breaks. */
  readonly event: string
  /** Data of the event, which is sent as JSON. */
  readonly data?: unknown
  /** JSON on one line that is sent unchanged instead of `data`. Thus one string can serve many clients. */
  readonly json?: string | undefined
}

export interface EventStreamOptions {
  readonly clock: Clock
  /** Ends the stream: usually the request's signal, which is aborted when the client disconnects. */
  readonly signal: AbortSignal
}

/** Milliseconds of silence after which a comment is sent, so that no proxy closes the connection. */
const KEEP_ALIVE_MS = 15_000
/** Milliseconds after which a client reconnects if its connection broke. */
const RETRY_MS = 2000

const encoder = new TextEncoder()

const format = ({ id, event, data, json = JSON.stringify(data) }: StreamEvent) =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${json}\n\n`

/**
 * Creates a response of type text/event-stream. The next event is read only after the client has received the previous
 * one, so a slow client costs no memory. The response ends with `source`. An error of `source` aborts the response, and
 * the client reconnects.
 * @param source yields the events, and ends when its signal is aborted. If it calls `end`, the signal is aborted: the
 *   response ends, and the client reconnects.
 */
export function eventStream(
  source: (signal: AbortSignal, end: () => void) => AsyncIterable<StreamEvent>,
  options: EventStreamOptions,
): Response {
  const { signal, abort, unlink } = linkedSignal(options.signal)
  const events = source(signal, abort)[Symbol.asyncIterator]()
  let next: Promise<IteratorResult<StreamEvent>> | undefined
  let isStarted = false
  let hasArrived = false
  /** Ends the present wait for the next event. */
  let wake = () => {}
  /** Resolves with the next event, or with undefined after `KEEP_ALIVE_MS`. */
  const nextOrSilence = async () => {
    if (next === undefined) {
      hasArrived = false
      next = events.next()
      const arrived = () => {
        hasArrived = true
        wake()
      }
      // One listener serves all waits for this event. In a silent stream, one for each wait would take up memory.
      next.then(arrived, arrived)
    }
    if (!hasArrived) {
      const quiet = new AbortController()
      await new Promise<void>((resolve) => {
        wake = resolve
        options.clock.sleep(KEEP_ALIVE_MS, quiet.signal).then(resolve, resolve)
      })
      quiet.abort()
    }
    return hasArrived ? next : undefined
  }

  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => controller.enqueue(encoder.encode(`retry: ${RETRY_MS}\n\n`)),
      pull: async (controller) => {
        isStarted = true
        try {
          const event = await nextOrSilence()
          if (event === undefined) return controller.enqueue(encoder.encode(': still here\n\n'))
          next = undefined
          if (event.done === true) {
            unlink()
            return controller.close()
          }
          controller.enqueue(encoder.encode(format(event.value)))
        } catch (error) {
          unlink()
          if (signal.aborted) return controller.close()
          throw error
        }
      },
      cancel: () => {
        unlink()
        abort()
        next?.catch(() => {})
        // `return` skips the `finally` of a generator that never ran. If the client left before the stream was created,
        // nothing else would release what the source holds.
        if (!isStarted) events.next().catch(() => {})
        // A generator that is suspended at a yield does not notice the signal. `return` makes it clean up.
        events.return?.().catch(() => {})
      },
    },
    { highWaterMark: 1 },
  )
  return new Response(body, {
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' },
  })
}

export interface LongPoll<News> {
  /** Returns the news, or undefined if there is none. */
  readonly read: () => Promise<News | undefined> | News | undefined
  /** Calls `changed` whenever there may be news. Returns a function that unsubscribes. */
  readonly subscribe: (changed: () => void) => () => void
  /** Maximum time to wait, in milliseconds. */
  readonly waitMs: number
  readonly clock: Clock
  readonly signal?: AbortSignal | undefined
}

/**
 * Reads immediately, and again after every change, until there is news. Returns undefined when `waitMs` is over. A
 * change during a read is not missed. Rejects with `signal.reason`, or with the error of `read`.
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
