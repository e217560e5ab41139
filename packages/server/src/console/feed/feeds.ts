import { Problem, type StreamEvent } from '@muster/core/http'

export interface FeedsOptions {
  /** Feeds open at once, in all and of one caller. */
  readonly inAll: number
  readonly perCaller: number
  /** Called when somebody listens and nobody did. */
  readonly begun: () => void
  readonly now: () => number
}

/** Tells listeners what happens. One text serves all of them; who reads slowly misses some and costs no memory. */
export interface Feeds {
  /** @throws {Problem} 429 if too many listen already */
  listen(caller: string, greeting: () => string): (signal: AbortSignal) => AsyncGenerator<StreamEvent>
  /** A state: only the newest is sent. */
  state(json: string): void
  /** A step of the history: each is sent, unless a listener is so far behind that it gets all anew. */
  step(json: string): void
  count(): number
  close(): void
}

interface Listener {
  readonly caller: string
  state: string | undefined
  steps: string[]
  /** Whether it missed steps, so that it is greeted again. */
  isBehind: boolean
  /** When it last took something. */
  takenAt: number
  wake: () => void
  readonly end: AbortController
}

/** Steps kept for a listener. */
const MOST_STEPS = 6
/** Milliseconds after which a listener that takes nothing makes place for another. */
const STUCK_MS = 30_000

export function createFeeds({ inAll, perCaller, begun, now }: FeedsOptions): Feeds {
  const listeners = new Set<Listener>()
  let isClosed = false

  const makePlace = (caller: string) => {
    const own = [...listeners].filter((listener) => listener.caller === caller)
    const crowd = own.length >= perCaller ? own : listeners.size >= inAll ? [...listeners] : undefined
    if (crowd === undefined) return
    const stuck = crowd.find(({ takenAt }) => now() - takenAt > STUCK_MS)
    if (stuck === undefined) throw new Problem(429, 'too-many-feeds', 'too many pages are open', { retryAfterMs: 5000 })
    leave(stuck)
  }
  const leave = (listener: Listener) => {
    listeners.delete(listener)
    listener.end.abort()
    listener.wake()
  }
  const tell = (change: (listener: Listener) => void) => {
    for (const listener of listeners) {
      change(listener)
      listener.wake()
    }
  }

  async function* events(listener: Listener, greeting: () => string, signal: AbortSignal): AsyncGenerator<StreamEvent> {
    try {
      yield { event: 'hello', json: greeting() }
      while (!signal.aborted && !listener.end.signal.aborted) {
        listener.takenAt = now()
        const event = nextOf(listener, greeting)
        if (event !== undefined) yield event
        else await new Promise<void>((resolve) => (listener.wake = resolve))
      }
      if (!signal.aborted) yield { event: 'bye', data: null }
    } finally {
      listeners.delete(listener)
    }
  }

  return {
    listen: (caller, greeting) => {
      if (isClosed) throw new Problem(503, 'closed', 'the program is ending', { retryAfterMs: 5000 })
      makePlace(caller)
      const listener: Listener = {
        caller,
        state: undefined,
        steps: [],
        isBehind: false,
        takenAt: now(),
        wake: () => {},
        end: new AbortController(),
      }
      listeners.add(listener)
      if (listeners.size === 1) begun()
      return (signal) => {
        // A stream that is cancelled before it is read never runs the generator.
        signal.addEventListener('abort', () => leave(listener), { once: true })
        return events(listener, greeting, signal)
      }
    },
    state: (json) =>
      tell((listener) => {
        listener.state = json
      }),
    step: (json) =>
      tell((listener) => {
        listener.steps.push(json)
        if (listener.steps.length <= MOST_STEPS) return
        listener.steps = []
        listener.isBehind = true
      }),
    count: () => listeners.size,
    close: () => {
      isClosed = true
      for (const listener of listeners) leave(listener)
    },
  }
}

function nextOf(listener: Listener, greeting: () => string): StreamEvent | undefined {
  if (listener.isBehind) {
    // The greeting holds the steps that waited.
    listener.isBehind = false
    listener.steps = []
    return { event: 'hello', json: greeting() }
  }
  const step = listener.steps.shift()
  if (step !== undefined) return { event: 'step', json: step }
  const { state } = listener
  listener.state = undefined
  return state === undefined ? undefined : { event: 'now', json: state }
}
