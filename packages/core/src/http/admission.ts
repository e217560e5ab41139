import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../clock.js'
import { whenKnown, type Awaitable } from '../runtime/awaitable.js'
import type { AttemptLimit } from './attempts.js'
import { createMemoryLimitStore, type LimitStore } from './limit-store.js'
import { Problem } from './problem.js'

/** An authenticated caller. */
export interface Caller {
  /** Identifies the caller, at least for rate limits. */
  readonly id: string
}

export interface RequestLimits<Who> {
  readonly perCaller?: AttemptLimit | undefined
  /** Requests of one address; of IPv6, of one /64. Requests of unknown address share one count. */
  readonly perAddress?: AttemptLimit | undefined
  /** Callers without limits, e.g. the game's own backend. Default none. */
  readonly exempt?: ((caller: Who) => boolean) | undefined
  /** Where requests are counted, as `perCaller` and `perAddress`. Default: in memory. */
  readonly store?: LimitStore | undefined
}

/** Decides who may call, before the body is read. */
export interface Admission<Who extends Caller> {
  /** Counts a request without a caller. Throws or rejects with a {Problem} 429. */
  anonymous(from: string): Awaitable<undefined>
  /**
   * Throws or rejects with a {Problem} 401 for an unknown caller, 429 for too many requests; or with what
   * `authenticate` throws.
   */
  caller(request: Request, from: string, authenticate: () => Awaitable<Who | undefined>): Awaitable<Who>
  isExempt(caller: Who): boolean
}

/** The key of all requests whose address is unknown. */
export const UNKNOWN_ADDRESS = 'unknown'

/** Authorizations checked at once for an address over its limit, because they may be a backend's (our choice). */
const MOST_LOOKS = 8
/** Authorizations of exempt callers that are remembered (our choice). */
const MOST_REMEMBERED = 1000

/**
 * Creates the admission. A request is charged to its address before its caller is known, so that guessing tokens is
 * limited. But a backend must not be locked out by others who share its address: an address over its limit still gets
 * in with an authorization that belonged to an exempt caller before, and a few other authorizations are checked at a
 * time.
 */
export function createAdmission<Who extends Caller>(limits: RequestLimits<Who>, clock: Clock): Admission<Who> {
  const { perCaller, perAddress, exempt, store = createMemoryLimitStore(clock) } = limits
  const callers = perCaller && store.attempts('perCaller', perCaller)
  const addresses = perAddress && store.attempts('perAddress', perAddress)
  const remembered = new LRUCache<string, true>({ max: MOST_REMEMBERED })
  const looks = new Map<string, number>()

  /** The header remembered last; comparing with it spares a new digest when a caller repeats requests. */
  let last: string | undefined
  const remember = (request: Request) => {
    const header = request.headers.get('authorization') ?? undefined
    if (header === undefined || header === last) return
    last = header
    remembered.set(digestOf(header), true)
  }
  const isExempt = (caller: Who) => exempt?.(caller) === true

  /** The caller, if exempt from limits; otherwise undefined. */
  const lookInto = async (request: Request, from: string, look: () => Promise<Who | undefined>) => {
    if (exempt === undefined) return undefined
    const header = request.headers.get('authorization')
    const isKnown = header !== null && remembered.has(digestOf(header))
    const underWay = looks.get(from) ?? 0
    if (!isKnown && underWay >= MOST_LOOKS) return undefined
    if (!isKnown) looks.set(from, underWay + 1)
    try {
      const caller = await look()
      return caller !== undefined && isExempt(caller) ? caller : undefined
    } finally {
      if (!isKnown) lessen(looks, from)
    }
  }

  const admit = (request: Request, from: string, caller: Who): Awaitable<Who> => {
    if (!isExempt(caller)) return whenKnown(callers?.take(caller.id) ?? 0, within, caller) as Awaitable<Who>
    addresses?.giveBack(from)
    if (addresses !== undefined) remember(request)
    return caller
  }

  /** Admits a caller whose address is over its limit, if exempt from limits. */
  const admitBeyond = async (
    request: Request,
    from: string,
    authenticate: () => Awaitable<Who | undefined>,
    waitMs: number,
  ): Promise<Who> => {
    const caller = await lookInto(request, from, async () => authenticate())
    if (caller === undefined) throw tooMany(waitMs, from)
    remember(request)
    return caller
  }

  const identify = (
    request: Request,
    from: string,
    authenticate: () => Awaitable<Who | undefined>,
    waitMs: number,
  ): Awaitable<Who> => {
    if (waitMs > 0) return admitBeyond(request, from, authenticate, waitMs)
    const found = settling(authenticate())
    return found instanceof Promise
      ? found.then((caller) => admit(request, from, known(caller)))
      : admit(request, from, known(found))
  }

  return {
    isExempt,
    anonymous: (from) => whenKnown(addresses?.take(from) ?? 0, (waitMs) => refuseFor(waitMs, from)),
    caller: (request, from, authenticate) => {
      const waitMs = addresses?.take(from) ?? 0
      return waitMs instanceof Promise
        ? waitMs.then((ms) => identify(request, from, authenticate, ms))
        : identify(request, from, authenticate, waitMs)
    },
  }
}

/** Promises of other realms and libraries, which are no `Promise`, are awaited too. */
const settling = <T>(value: Awaitable<T>): Awaitable<T> =>
  typeof (value as Partial<PromiseLike<T>> | null | undefined)?.then === 'function' ? Promise.resolve(value) : value

/** What is remembered of an Authorization header: a digest, not the token. */
const digestOf = (header: string) => createHash('sha256').update(header).digest('base64')

function lessen(counts: Map<string, number>, key: string): void {
  const left = (counts.get(key) ?? 1) - 1
  if (left === 0) counts.delete(key)
  else counts.set(key, left)
}

/** @throws {Problem} 401 for nobody. */
function known<Who>(caller: Who | undefined): Who {
  if (caller !== undefined && caller !== null) return caller
  throw new Problem(401, 'unauthorized', 'it is not known who calls', { headers: { 'www-authenticate': 'Bearer' } })
}

function within<Who>(waitMs: number, caller: Who): Who {
  refuseFor(waitMs)
  return caller
}

function refuseFor(waitMs: number, from?: string): undefined {
  if (waitMs > 0) throw tooMany(waitMs, from)
}

function tooMany(retryAfterMs: number, from?: string): Problem {
  // The message helps whoever mounts the API, and tells a client nothing.
  const why = from === UNKNOWN_ADDRESS ? ': no addresses are known here, so all callers count as one' : ''
  return new Problem(429, 'too-many-requests', `too many requests${why}`, { retryAfterMs })
}
