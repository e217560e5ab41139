import type { Clock } from '../time.js'
import { type Awaitable, createSets } from '../runtime/index.js'
import { bodyBroken, bodySuperseded, bodyTooLarge, bodyTooSlow, type Problem } from './answers.js'
import { ByteBuffer, IncomingBody } from './incoming-body.js'
import { takeBody } from './lazy-request.js'

export interface BodyLimits {
  /** Milliseconds within which a body must arrive once a handler reads it. Default 10,000. */
  readonly timeoutMs?: number | undefined
  /**
   * Maximum number of unfinished bodies of one address (IPv6: of one /64). A further body ends the oldest body of the
   * address. Default 64.
   */
  readonly perAddress?: number | undefined
  /** Maximum number of unfinished bodies of all addresses. A further body ends the oldest one. Default 2,000. */
  readonly inAll?: number | undefined
}

export interface BodiesOptions extends BodyLimits {
  readonly clock: Clock
}

const UNWATCHED = { unfinished: () => {}, over: () => {} }

/**
 * Reads a request's body without a time limit. Returns no bytes if it has no body. Rejects with a `Problem`: 413 for
 * more than `maxBytes`, 400 for a truncated body.
 */
export async function readBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw bodyTooLarge(maxBytes)
  const body = takeBody(request)
  if (body === null) return NOTHING
  if (body instanceof Uint8Array) return body
  if (body === undefined)
    return request.body === null ? NOTHING : readStream(request.body, new ByteBuffer(), maxBytes, () => false)
  body.gather(maxBytes, UNWATCHED)
  return body.whole()
}

/** Reads the bodies of requests, and limits the memory of unfinished bodies. */
export interface Bodies {
  /**
   * Starts to read a body before its sender is known. Arriving data is buffered up to `maxBytes`, but nothing waits for
   * it.
   * @param from the key under which the body counts, e.g. an address.
   */
  begin(request: Request, maxBytes: number, from: string): BegunBody
  /**
   * Returns the number of unfinished bodies: those that have arrived in several pieces so far, or that a caller waits
   * for.
   */
  open(): number
  /** Returns the memory of unfinished bodies in bytes. */
  held(): number
}

export interface BegunBody {
  /**
   * Returns the whole body, synchronously if it has arrived already; no bytes for a request without a body. Throws or
   * rejects with a `Problem`: 413 for more than `maxBytes`, 400 for a truncated body, 408 for a body that takes too
   * long.
   */
  bytes(): Awaitable<Uint8Array>
  /** Marks the sender as trusted: the body no longer counts for its address. */
  trust(): void
}

interface Unfinished {
  /** The key under which the body counts; undefined for a trusted sender. */
  from: string | undefined
  /** The bytes received so far. */
  readonly bytes: { readonly capacity: number }
  /** Ends the reading of the body. */
  readonly stop: (why: Problem) => void
  /** Aborted when the reading has ended. */
  readonly over: AbortController
}

const NOTHING = new Uint8Array()

/** Returns a body that has arrived already, so that no limit applies. */
const arrived = (bytes: Uint8Array): BegunBody => ({ bytes: () => bytes, trust: () => {} })

/**
 * Limits unfinished bodies by ending the oldest. An honest sender's body arrives within a moment. A sender who keeps
 * many bodies open loses these, and later requests are not affected.
 * @throws RangeError naming an invalid option
 */
export function createBodies({ clock, timeoutMs = 10_000, perAddress = 64, inAll = 2000 }: BodiesOptions): Bodies {
  for (const [name, value] of Object.entries({ timeoutMs, perAddress, inAll })) {
    if (!(value >= 1)) throw new RangeError(`option ${name} must be at least 1, got ${value}`)
  }
  /** Unfinished bodies, the oldest first: of all addresses, and of each address. */
  const all = new Set<Unfinished>()
  const byAddress = createSets<string, Unfinished>()

  const enter = (body: Pick<Unfinished, 'from' | 'bytes' | 'stop'>): Unfinished => {
    const one: Unfinished = { ...body, over: new AbortController() }
    const { from } = one
    clock.sleep(timeoutMs, one.over.signal).then(
      () => end(one, bodyTooSlow(timeoutMs)),
      () => {},
    )
    supersede(all.add(one), inAll)
    if (from !== undefined) supersede(byAddress.add(from, one), perAddress)
    return one
  }
  const supersede = (those: ReadonlySet<Unfinished>, most: number) => {
    const [oldest] = those
    if (those.size > most && oldest !== undefined) end(oldest, bodySuperseded())
  }
  const end = (one: Unfinished, why: Problem) => {
    leave(one)
    one.stop(why)
  }
  const leave = (one: Unfinished) => {
    all.delete(one)
    one.over.abort(null) // Without a reason, abort() would create an error with a stack for each body.
    trust(one)
  }
  const trust = (one: Unfinished) => {
    byAddress.delete(one.from ?? '', one)
    one.from = undefined
  }

  const beginMessage = (body: IncomingBody, maxBytes: number, address: string): BegunBody => {
    let from: string | undefined = address
    let one: Unfinished | undefined
    const unfinished = () => (one ??= enter({ from, bytes: body, stop: (why) => body.drop(why) }))
    body.gather(maxBytes, { unfinished, over: () => one && leave(one) })
    return {
      bytes: () => {
        // Most bodies arrive together with their head and need no timer.
        if (body.isArriving) unfinished()
        return body.whole()
      },
      trust: () => {
        from = undefined
        if (one !== undefined) trust(one)
      },
    }
  }

  const beginStream = (request: Request, maxBytes: number, address: string): BegunBody => {
    let from: string | undefined = address
    const read = (stream: ReadableStream<Uint8Array>) =>
      new Promise<Uint8Array>((resolve, reject) => {
        const bytes = new ByteBuffer()
        let one: Unfinished | undefined
        let isStopped = false
        // The stream is not cancelled, because some servers then close the socket before the response is sent.
        const stop = (why: Problem) => {
          isStopped = true
          bytes.drain()
          reject(why)
        }
        // A body in memory arrives within one turn of the event loop. It needs no timer.
        const nextTurn = setImmediate(() => (one = enter({ from, bytes, stop })))
        readStream(stream, bytes, maxBytes, () => isStopped)
          .then(resolve, reject)
          .finally(() => {
            clearImmediate(nextTurn)
            if (one !== undefined) leave(one)
          })
      })
    return {
      bytes: () => (request.body === null ? NOTHING : read(request.body)),
      trust: () => {
        from = undefined
      },
    }
  }

  return {
    begin: (request, maxBytes, from) => {
      if (Number(request.headers.get('content-length') ?? 0) > maxBytes) {
        const body = takeBody(request)
        if (body instanceof IncomingBody) body.drop(bodyTooLarge(maxBytes))
        return { bytes: () => Promise.reject(bodyTooLarge(maxBytes)), trust: () => {} }
      }
      const body = takeBody(request)
      if (body === null) return arrived(NOTHING)
      if (body instanceof Uint8Array) return arrived(body)
      if (body !== undefined) return beginMessage(body, maxBytes, from)
      return beginStream(request, maxBytes, from)
    },
    open: () => all.size,
    held: () => [...all].reduce((sum, { bytes }) => sum + bytes.capacity, 0),
  }
}

/**
 * Reads a stream into `bytes` and returns them. Rejects with a `Problem` for more than `maxBytes` and for a truncated
 * stream. Returns early if the reading was stopped.
 */
async function readStream(
  stream: ReadableStream<Uint8Array>,
  bytes: ByteBuffer,
  maxBytes: number,
  isStopped: () => boolean,
): Promise<Uint8Array> {
  const reader = stream.getReader()
  for (;;) {
    const { done, value } = await reader.read().catch(broken)
    if (done || isStopped()) return bytes.drain()
    if (bytes.size + value.byteLength > maxBytes) {
      await reader.cancel().catch(() => {})
      throw bodyTooLarge(maxBytes)
    }
    bytes.append(value)
  }
}

function broken(): never {
  throw bodyBroken()
}
