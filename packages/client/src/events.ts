import type { Clock } from './clock.js'
import type { Answer, RequestOptions, Send } from './connection.js'
import { fits } from './shapes.js'
import type { WireTicket } from './wire.js'

/** The part of `EventSource` that is used. */
export interface EventSourceLike {
  readonly readyState: number
  addEventListener(type: string, listener: (event: { readonly data?: unknown }) => void): void
  close(): void
}

interface EventStream {
  readonly ticket: string
  readonly source: EventSourceLike
  latest: WireTicket | undefined
  /** Called when the stream has a new version or has failed. */
  wake: (() => void) | undefined
  hasFailed: boolean
}

const CLOSED = 2
/** Milliseconds without an event after which the ticket is read instead. A dead connection looks like a quiet one. */
const QUIET_MS = 35_000
const POLL = /^\/tickets\/([^/?]+)\?wait=\d+&version=(\d+)$/

/**
 * Follows tickets by server-sent events. Requests for the next version of a ticket are answered from the ticket's
 * stream. Once a stream ends or stays silent without any event, tickets are followed by long polls.
 */
export function followByEvents(
  send: Send,
  url: string,
  open: (url: string) => EventSourceLike,
  clock: Clock,
): { readonly send: Send; readonly close: () => void } {
  const base = url.replace(/\/+$/, '')
  let stream: EventStream | undefined
  /** True once streams do not bring the first version, which Muster sends at once: a proxy may hold it back. */
  let isDeaf = false
  /** Number of streams in a row that were refused without an event. A token may have ended, so one proves nothing. */
  let refused = 0

  const close = () => {
    const ended = stream
    stream = undefined
    ended?.source.close()
    ended?.wake?.()
  }

  const openStream = async (ticket: string, signal: AbortSignal | undefined): Promise<EventStream | Answer> => {
    const answer = await send({ method: 'POST', path: `/tickets/${ticket}/stream-token`, signal })
    if (answer.status !== 201) return answer
    if (!fits('streamToken', answer.body)) return { status: 0 }
    const { token } = answer.body as { readonly token: string }
    let source: EventSourceLike
    try {
      source = open(`${base}/tickets/${ticket}/events?token=${encodeURIComponent(token)}`)
    } catch {
      // The platform refuses the URL, e.g. because it needs an absolute one. The next request is a long poll.
      isDeaf = true
      return { status: 0 }
    }
    const opened: EventStream = { ticket, source, latest: undefined, wake: undefined, hasFailed: false }
    source.addEventListener('ticket', ({ data }) => {
      const read = ticketIn(data)
      // An event without a ticket counts as a lost connection.
      if (read === undefined) opened.hasFailed = true
      else opened.latest = read
      refused = 0
      if (read?.status === 'HOST_ASSIGNED' || read?.status === 'CANCELLED') source.close()
      opened.wake?.()
    })
    source.addEventListener('error', () => {
      opened.hasFailed = true
      opened.wake?.()
    })
    return opened
  }

  const next = async (ticket: string, version: number, signal: AbortSignal | undefined): Promise<Answer> => {
    // The last version of a stream that has ended is still used once.
    const isOver = (one: EventStream) => one.source.readyState === CLOSED && !isNewer(one, version)
    if (stream !== undefined && (stream.ticket !== ticket || isOver(stream))) close()
    if (stream === undefined) {
      const opened = await openStream(ticket, signal)
      if ('status' in opened) return opened
      if (signal?.aborted) {
        opened.source.close()
        return { status: 0 }
      }
      stream = opened
    }
    const mine = stream
    if (!isNewer(mine, version) && !mine.hasFailed) {
      const waiting = new AbortController()
      // A stream begins with the current version, which the caller may already have.
      const wake = () => {
        if (isNewer(mine, version) || mine.hasFailed || stream !== mine || signal?.aborted) waiting.abort()
      }
      mine.wake = wake
      signal?.addEventListener('abort', wake)
      const isQuiet = await clock.sleep(QUIET_MS, waiting.signal).then(
        () => true,
        () => false,
      )
      signal?.removeEventListener('abort', wake)
      if (mine.wake === wake) mine.wake = undefined
      if (signal?.aborted) {
        if (stream === mine) close()
        return { status: 0 }
      }
      if (mine.latest === undefined && (isQuiet || (mine.source.readyState === CLOSED && ++refused > 1))) isDeaf = true
      if (isQuiet) {
        const answer = await send({ method: 'GET', path: `/tickets/${ticket}`, signal })
        // The stream stays open only if it has missed nothing.
        if (stream === mine && (isDeaf || (answer.body as WireTicket | undefined)?.version !== version)) close()
        return answer
      }
    }
    if (isNewer(mine, version)) return { status: 200, body: mine.latest }
    mine.hasFailed = false
    if (mine.source.readyState === CLOSED && stream === mine) close()
    return { status: 0 }
  }

  return {
    close,
    send: (request: RequestOptions) => {
      const [, ticket, version] = POLL.exec(request.path) ?? []
      if (isDeaf || request.method !== 'GET' || ticket === undefined) return send(request)
      return next(ticket, Number(version), request.signal)
    },
  }
}

/** Returns the ticket in an event; undefined if the event has none. */
function ticketIn(data: unknown): WireTicket | undefined {
  try {
    const ticket: unknown = JSON.parse(String(data))
    return fits('ticket', ticket) ? (ticket as WireTicket) : undefined
  } catch {
    return undefined
  }
}

const isNewer = ({ latest }: EventStream, version: number) => latest !== undefined && latest.version > version
