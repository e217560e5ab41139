import { Problem } from '@muster/core/http'
import { linkedSignal, manyWaitOn } from '@muster/core/runtime'

/** An open long poll or event stream of a caller. */
export interface OpenStream {
  /** Aborted when the request's signal is, or when the caller has opened too many streams since. */
  readonly signal: AbortSignal
  /** Notes that the stream has ended. */
  end(): void
}

export interface StreamLimits {
  /** Enough for several browser tabs, and for broken connections that nobody has noticed yet. */
  readonly perCaller: number
  readonly inAll: number
}

/**
 * Bounds the open streams of each caller and of all: a stream lasts, so a limit of requests does not bound them. A
 * caller's stream beyond the limit ends the caller's oldest, which is the likeliest to be a broken connection.
 * @returns a function that opens a stream. @throws {Problem} 503 if there are too many in all
 */
export function createOpenStreams({
  perCaller,
  inAll,
}: StreamLimits): (callerId: string, request: AbortSignal) => OpenStream {
  const streams = new Map<string, Set<AbortController>>()
  let open = 0
  return (callerId, request) => {
    const all = streams.get(callerId) ?? new Set()
    if (open >= inAll && all.size < perCaller)
      throw new Problem(503, 'busy', 'too many wait already: ask without waiting', { retryAfterMs: 5000 })
    const own = manyWaitOn()
    const linked = linkedSignal(request, own.signal)
    streams.set(callerId, all.add(own))
    open += 1
    const end = () => {
      linked.unlink()
      if (!all.delete(own)) return
      open -= 1
      if (all.size === 0 && streams.get(callerId) === all) streams.delete(callerId)
    }
    linked.signal.addEventListener('abort', end, { once: true })
    if (linked.signal.aborted) end()
    const [oldest] = all
    if (all.size > perCaller) oldest?.abort(new Problem(409, 'superseded', 'you have opened too many others since'))
    return { signal: linked.signal, end }
  }
}
