import { Problem } from '@muster/core/http'
import { linkedSignal, manyWaitOn } from '@muster/core/runtime'

/** Something that a caller has open. */
export interface OpenStream {
  /** Aborted when the request's is, or when the caller has opened too many since. */
  readonly signal: AbortSignal
  /** Says that it is over. */
  end(): void
}

export interface StreamLimits {
  /** For a handful of tabs, and for connections that broke without anybody noticing yet. */
  readonly perCaller: number
  readonly inAll: number
}

/**
 * Bounds what each caller has open at once, and all together: an open stream lasts, so a limit of requests does not
 * bound it. One too many of a caller ends the oldest, because it is the likeliest to have nobody at its other end.
 * @returns what opens a stream. @throws {Problem} 503 when there are too many in all.
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
