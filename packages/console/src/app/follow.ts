import type { Hello, HistoryStep, Now } from '../wire.js'
import type { Clock } from './clock.js'

/** An event of a stream of server-sent events. */
export interface SseEvent {
  /** Name of the event; `message` if the stream states none. */
  readonly event: string
  readonly data: string
}

/**
 * Creates a parser of server-sent events (WHATWG HTML, 9.2.6). The parser accepts decoded text in chunks of any size,
 * and returns the events that each chunk completes. It ignores ids and retry times.
 */
export function createEventParser(): (piece: string) => readonly SseEvent[] {
  let rest = ''
  let isFirst = true
  let name = ''
  let data: string[] = []

  const line = (text: string): SseEvent | undefined => {
    if (text === '') {
      const ended = data.length === 0 ? undefined : { event: name === '' ? 'message' : name, data: data.join('\n') }
      name = ''
      data = []
      return ended
    }
    const colon = text.indexOf(':')
    const field = colon === -1 ? text : text.slice(0, colon)
    const value = colon === -1 ? '' : text.slice(colon + 1).replace(/^ /, '')
    if (field === 'event') name = value
    if (field === 'data') data.push(value)
    return undefined
  }

  return (piece) => {
    if (isFirst && piece !== '') {
      isFirst = false
      rest = piece.replace(/^\uFEFF/, '')
    } else rest += piece
    const events: SseEvent[] = []
    let from = 0
    for (;;) {
      const end = /\r\n|\n|\r/g
      end.lastIndex = from
      const found = end.exec(rest)
      // A carriage return at the end of a chunk may be half of a line break, so the parser waits for the next chunk.
      if (found === null || (found[0] === '\r' && end.lastIndex === rest.length)) break
      const event = line(rest.slice(from, found.index))
      if (event !== undefined) events.push(event)
      from = end.lastIndex
    }
    rest = rest.slice(from)
    return events
  }
}

/** The state of the feed. `away`: the connection is lost. `refused`: the token is invalid, so retries are useless. */
export type FeedStatus = 'connecting' | 'live' | 'away' | 'refused'

interface FollowOptions {
  readonly url: string
  readonly token: string
  readonly clock: Clock
  /** Returns a number from 0 to 1. */
  readonly random: () => number
  readonly fetch: typeof globalThis.fetch
  readonly hello: (hello: Hello) => void
  readonly now: (now: Now) => void
  readonly step: (step: HistoryStep) => void
  readonly connection: (connection: FeedStatus) => void
}

const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 10_000
/**
 * Milliseconds of silence after which the feed counts as lost, even on an open connection. The server sends twice a
 * second.
 */
const SILENCE_MS = 6000

/**
 * Reads the feed, and reconnects whenever it ends. The pauses grow with each failure and are random, so that many open
 * pages do not reconnect at the same time. Returns a function that stops the feed.
 */
export function follow(options: FollowOptions): () => void {
  const { clock, connection } = options
  const stopped = new AbortController()
  let failures = 0
  let cancelWait = () => {}

  const wait = () => {
    const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** failures)
    failures += 1
    cancelWait = clock.after(longest * (0.5 + options.random() / 2), () => void connect())
  }

  const connect = async () => {
    const attempt = new AbortController()
    const stop = () => attempt.abort()
    stopped.signal.addEventListener('abort', stop, { once: true })
    try {
      await readFeed(options, attempt, () => {
        failures = 0
      })
    } catch (error) {
      if (error instanceof WrongToken) return connection('refused')
      // After any other error, the feed counts as away, and a further attempt follows.
    } finally {
      stopped.signal.removeEventListener('abort', stop)
      attempt.abort()
    }
    if (stopped.signal.aborted) return
    connection('away')
    wait()
  }

  connection('connecting')
  void connect()
  return () => {
    stopped.abort()
    cancelWait()
  }
}

class WrongToken extends Error {}

async function readFeed(options: FollowOptions, attempt: AbortController, heard: () => void): Promise<void> {
  const { url, token, clock, connection } = options
  let cancelSilence = () => {}
  const listen = () => {
    cancelSilence()
    cancelSilence = clock.after(SILENCE_MS, () => attempt.abort())
  }
  listen()
  try {
    const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' }
    const answer = await options.fetch(url, { headers, cache: 'no-store', signal: attempt.signal })
    if (answer.status === 401 || answer.status === 403) throw new WrongToken()
    if (!answer.ok || answer.body === null) throw new Error(`The event feed answered with HTTP ${answer.status}.`)
    const parse = createEventParser()
    const decoder = new TextDecoder()
    const reader = answer.body.getReader()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      listen()
      for (const event of parse(decoder.decode(value, { stream: true }))) {
        if (event.event === 'bye') return
        if (event.event === 'hello') {
          heard()
          connection('live')
        }
        deliver(event, options)
      }
    }
  } finally {
    cancelSilence()
  }
}

function deliver({ event, data }: SseEvent, { hello, now, step }: FollowOptions): void {
  if (event === 'hello') hello(JSON.parse(data) as Hello)
  if (event === 'now') now(JSON.parse(data) as Now)
  if (event === 'step') step(JSON.parse(data) as HistoryStep)
}
