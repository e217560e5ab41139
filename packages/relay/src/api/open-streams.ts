import { Problem } from '@muster/core/http'
import { linkedSignal, manyWaitOn } from '../linked-signal.js'

/** Something that a caller has open. */
export interface OpenStream {
  /** Aborted when the request's is, or when the caller has opened too many since. */
  readonly signal: AbortSignal
  /** Says that it is over. */
  end(): void
}

/** Our choice: for a handful of tabs, and for connections that broke without anybody noticing yet. */
const MOST = 8

/**
 * Bounds what each caller has open at once: an open stream lasts, so a limit of requests does not bound it. One too many ends
 * the oldest, because it is the likeliest to have nobody at its other end.
 */
export function createOpenStreams(): (callerId: string, request: AbortSignal) => OpenStream {
  const streams = new Map<string, Set<AbortController>>()
  return (callerId, request) => {
    const own = manyWaitOn()
    const linked = linkedSignal(request, own.signal)
    const all = streams.get(callerId) ?? new Set()
    streams.set(callerId, all.add(own))
    const end = () => {
      linked.unlink()
      all.delete(own)
      if (all.size === 0 && streams.get(callerId) === all) streams.delete(callerId)
    }
    linked.signal.addEventListener('abort', end, { once: true })
    const [oldest] = all
    if (all.size > MOST) oldest?.abort(new Problem(409, 'superseded', 'you have opened too many others since'))
    return { signal: linked.signal, end }
  }
}
