import type { Clock } from '@muster/core/clock'
import { within } from '@muster/core/runtime'

export interface BatchOptions<Found> {
  /** Looks up all ids in one call. The signal is aborted once the answer is no longer awaited. */
  readonly ask: (ids: readonly string[], signal: AbortSignal) => Promise<ReadonlyMap<string, Found>>
  /** Most ids in one call. */
  readonly most: number
  readonly timeoutMs: number
  readonly clock: Clock
  /** Called with the error of each call that failed or took too long. */
  readonly onError: (error: unknown) => void
}

/** Most calls under way; ids requested meanwhile wait for the next call. */
const MOST_CALLS = 4
/** Most ids that may wait; further ids are refused at once, because answers take too long. */
const MOST_WAITING = 20_000

interface Asked<Found> {
  readonly answer: Promise<Found | undefined>
  readonly resolve: (found: Found | undefined) => void
  readonly reject: (error: unknown) => void
}

/**
 * Combines the ids that are requested within one turn of the event loop, or while the most calls are under way, into
 * one call. An id that is waiting already is not requested twice. The promise rejects if the call fails or takes too
 * long.
 */
export function createBatches<Found>(options: BatchOptions<Found>): (id: string) => Promise<Found | undefined> {
  const { ask, most, timeoutMs, clock, onError } = options
  const asked = new Map<string, Asked<Found>>()
  const gathered: string[] = []
  let calls = 0
  let isDue = false

  const settle = (ids: readonly string[], how: (one: Asked<Found>, id: string) => void) => {
    for (const id of ids) {
      const one = asked.get(id)
      asked.delete(id)
      if (one !== undefined) how(one, id)
    }
  }
  const call = async (ids: readonly string[]): Promise<void> => {
    const over = new AbortController()
    try {
      const found = await within(ask(ids, over.signal), timeoutMs, clock)
      if (found === undefined) throw new Error(`no answer within ${timeoutMs} ms`)
      settle(ids, (one, id) => one.resolve(found.get(id)))
    } catch (error) {
      onError(error)
      settle(ids, (one) => one.reject(error))
    } finally {
      over.abort()
    }
  }
  const send = (): void => {
    isDue = false
    while (gathered.length > 0 && calls < MOST_CALLS) {
      calls += 1
      void call(gathered.splice(0, most)).finally(() => {
        calls -= 1
        send()
      })
    }
  }

  return (id) => {
    const before = asked.get(id)
    if (before !== undefined) return before.answer
    if (asked.size >= MOST_WAITING) return Promise.reject(new Error(`${MOST_WAITING} wait for an answer already`))
    const { promise: answer, resolve, reject } = withResolvers<Found | undefined>()
    asked.set(id, { answer, resolve, reject })
    gathered.push(id)
    if (!isDue) setImmediate(send)
    isDue = true
    return answer
  }
}

/** Like `Promise.withResolvers` of Node.js 22. */
function withResolvers<T>() {
  let resolve: (value: T) => void = () => {}
  let reject: (error: unknown) => void = () => {}
  const promise = new Promise<T>((resolved, rejected) => {
    resolve = resolved
    reject = rejected
  })
  return { promise, resolve, reject }
}
