import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../time.js'
import { type Awaitable, growingTo } from '../runtime/index.js'
import { Problem } from './answers.js'
import { type AttemptLimit, createAttempts, createMemoryLimitStore, type LimitStore } from './attempts.js'

/** An authenticated caller. */
export interface Caller {
  /** The caller's id, which rate limits use. */
  readonly id: string
}

export interface RequestLimits<Who> {
  readonly perCaller?: AttemptLimit | undefined
  /**
   * Limit of requests from one address, or from one /64 for IPv6. Requests of unknown address share one count. The
   * limit applies separately to requests of known callers, to requests with unknown tokens, and to requests without a
   * caller.
   */
  readonly perAddress?: AttemptLimit | undefined
  /** Returns true for callers without limits, e.g. the game's own backend. Default: none. */
  readonly exempt?: ((caller: Who) => boolean) | undefined
  /**
   * Returns true for callers that count only for themselves, not for their address. An example is game servers, because
   * one address may host many. Default: none.
   */
  readonly apart?: ((caller: Who) => boolean) | undefined
  /** Returns the key by which a caller's requests are counted. Default: the caller's id. */
  readonly countedBy?: ((caller: Who) => string) | undefined
  /** The store that counts requests, as `perCaller` and `perAddress`. Default: in memory. */
  readonly store?: LimitStore | undefined
}

/** How to identify the caller of a request, and what its token tells before it is verified. */
export interface Identification<Who> {
  readonly authenticate: () => Awaitable<Who | undefined>
  /** Returns the caller of a token that was verified before, at no cost. */
  readonly recall?: (() => Who | undefined) | undefined
  /**
   * Returns true if the token is signed. Guessing such a token is hopeless, and verifying it costs a signature check.
   */
  readonly isSigned?: (() => boolean) | undefined
}

/** Decides who may call before the body is read. */
export interface Admission<Who extends Caller> {
  /** Counts a request without a caller. Rejects with a {Problem} 429. */
  anonymous(from: string): Promise<undefined>
  /** Rejects with a {Problem} 401 (unknown caller) or 429 (too many requests), or with the error of `authenticate`. */
  caller(request: Request, from: string, identification: Identification<Who>): Promise<Who>
  /** Counts the size of an admitted request's body: each further 64 KiB counts as a request of the caller. */
  countBody(caller: Who, bytes: number): void
  isExempt(caller: Who): boolean
}

/** The key of all requests whose address is unknown. */
export const UNKNOWN_ADDRESS = 'unknown'

/**
 * Maximum number of signed tokens that are verified for an address that has sent too many unknown tokens, and for all
 * such addresses together (our choice). Verifying a signature takes up to 0.2 ms.
 */
const SIGNATURES: AttemptLimit = { limit: 100, windowMs: 1000 }
const SIGNATURES_IN_ALL: AttemptLimit = { limit: 1000, windowMs: 1000 }

/**
 * Bytes of a body that count as one request (our choice). Parsing 64 KiB takes up to 6 ms of CPU, so a larger body must
 * not cost its caller the same as an empty one.
 */
export const COUNTED_BYTES = 64 * 1024

/** Maximum number of remembered authorizations, each with the address that it was used from (our choice): some 2 MB. */
const MOST_REMEMBERED = 10_000

/**
 * The authorizations that were accepted before, each with its address: true if the caller's requests are not counted
 * for the address. They belong to the store of limits. Otherwise a reloaded API would refuse known callers while others
 * at their address send wrong tokens.
 */
const rememberedBy = new WeakMap<LimitStore, LRUCache<string, boolean>>()

/**
 * Creates the admission. It keeps three counts for each address, each with the limit `perAddress`: requests of known
 * callers, requests with unknown tokens, and requests without a caller. One client's wrong tokens therefore do not
 * block other clients at the same address whose tokens were accepted from there before. Once an address has sent too
 * many unknown tokens, a token that is new at this address is rejected unread, even a valid one. Only signed tokens are
 * still verified, at a limited rate.
 */
export function createAdmission<Who extends Caller>(limits: RequestLimits<Who>, clock: Clock): Admission<Who> {
  const { perCaller, perAddress, exempt, apart, countedBy = idOf, store = createMemoryLimitStore(clock) } = limits
  const callers = perCaller && store.attempts('perCaller', perCaller)
  const known = perAddress && store.attempts('perAddress', perAddress)
  const guesses = perAddress && store.attempts('perAddress.guesses', perAddress)
  const anonymous = perAddress && store.attempts('perAddress.anonymous', perAddress)
  const signatures = createAttempts({ ...SIGNATURES, clock })
  const signaturesInAll = createAttempts({ ...SIGNATURES_IN_ALL, clock, maxKeys: 1 })
  const remembered = rememberedBy.get(store) ?? new LRUCache<string, boolean>(growingTo(MOST_REMEMBERED))
  rememberedBy.set(store, remembered)
  const isExempt = (caller: Who) => exempt?.(caller) === true
  const isApart = (caller: Who) => isExempt(caller) || apart?.(caller) === true

  /** The key of the previous request. It is cached, because callers repeat requests and computing a digest is slow. */
  let last = { header: '', from: '', key: '' }
  const keyOf = (request: Request, from: string): string | undefined => {
    const header = request.headers.get('authorization') ?? ''
    // Without the header, the request uses a cookie or a token in the URL, and nothing is remembered.
    if (header === '') return undefined
    // The cache holds a digest of an authorization instead of the token.
    if (header !== last.header || from !== last.from)
      last = { header, from, key: `${from} ${hash('sha256', header, 'base64')}` }
    return last.key
  }

  /** Admits a known caller. Counts the request unless it was counted before. */
  const admit = async (caller: Who, from: string, isCounted = false): Promise<Who> => {
    if (isApart(caller)) {
      if (isCounted) known?.giveBack(from)
      if (isExempt(caller)) return caller
    } else if (!isCounted) {
      const waitMs = known?.take(from)
      assertNoWait(waitMs instanceof Promise ? await waitMs : waitMs, from)
    }
    const waitMs = callers?.take(countedBy(caller))
    assertNoWait(waitMs instanceof Promise ? await waitMs : waitMs)
    return caller
  }

  /** Identifies a caller whose authorization was accepted from this address before. */
  const again = async (key: string, from: string, { authenticate }: Identification<Who>): Promise<Who> => {
    const taken = known?.take(from) ?? 0
    const waitMs = taken instanceof Promise ? await taken : taken
    const wasApart = remembered.get(key) === true
    if (!wasApart) assertNoWait(waitMs, from)
    try {
      return await admit(assertKnown(await authenticate()), from, waitMs === 0)
    } catch (error) {
      if (isUnknown(error)) {
        remembered.delete(key)
        guesses?.charge(from)
      }
      throw error
    }
  }

  /** Rejects with the error of a token that is valid and not accepted here. It counts as a request without a caller. */
  const refuse = async (error: unknown, from: string): Promise<never> => {
    if (error instanceof Problem && error.status < 500) assertNoWait(await anonymous?.take(from), from)
    throw error
  }

  const mayCheckSigned = (from: string, { isSigned }: Identification<Who>) =>
    isSigned?.() === true && signatures.take(from) === 0 && signaturesInAll.take('all') === 0

  /** Identifies a caller whose authorization is new at this address. */
  const first = async (key: string | undefined, from: string, identification: Identification<Who>): Promise<Who> => {
    const taken = guesses?.take(from) ?? 0
    const waitMs = taken instanceof Promise ? await taken : taken
    if (waitMs > 0 && !mayCheckSigned(from, identification)) throw tooMany(waitMs, from)
    const giveBack = () => {
      if (waitMs === 0) guesses?.giveBack(from)
    }
    let caller: Who
    try {
      caller = assertKnown(await identification.authenticate())
    } catch (error) {
      // An error other than 401 does not mean that the token is wrong, so it does not count as a guess.
      if (isUnknown(error)) throw error
      giveBack()
      return refuse(error, from)
    }
    giveBack()
    if (key !== undefined) remembered.set(key, isApart(caller))
    return await admit(caller, from)
  }

  return {
    isExempt,
    countBody: (caller, bytes) => {
      if (callers === undefined || isExempt(caller)) return
      for (let left = bytes - COUNTED_BYTES; left > 0; left -= COUNTED_BYTES) callers.charge(countedBy(caller))
    },
    anonymous: async (from) => assertNoWait(await anonymous?.take(from), from),
    caller: (request, from, identification) => {
      let recalled: Who | undefined
      try {
        recalled = identification.recall?.()
      } catch (error) {
        return refuse(error, from)
      }
      if (recalled !== undefined) return admit(recalled, from)
      const key = known && keyOf(request, from)
      const isRemembered = key !== undefined && remembered.has(key)
      return isRemembered ? again(key, from, identification) : first(key, from, identification)
    },
  }
}

const idOf = ({ id }: Caller) => id

/** Returns the caller if it is known. @throws {Problem} 401 for an unknown caller. */
function assertKnown<Who extends Caller>(caller: Who | undefined): Who {
  if (caller !== undefined && caller !== null) {
    // E.g. the number of a database row. All callers without an id would be one caller.
    if (typeof caller.id !== 'string')
      throw new TypeError(`authenticate: the id must be a text, got ${typeof caller.id}`)
    return caller
  }
  throw new Problem(401, 'unauthorized', 'Unknown caller. Send `Authorization: Bearer <token>` with a valid token.', {
    headers: { 'www-authenticate': 'Bearer' },
  })
}

/** True if the error means that the token is unknown. */
const isUnknown = (error: unknown) => error instanceof Problem && error.status === 401

function assertNoWait(waitMs = 0, from?: string): undefined {
  if (waitMs > 0) throw tooMany(waitMs, from)
}

function tooMany(retryAfterMs: number, from?: string): Problem {
  // This text helps the operator who mounts the API. It reveals nothing to a client.
  const why = from === UNKNOWN_ADDRESS ? ': client addresses are unknown here, so all callers count as one' : ''
  return new Problem(429, 'too-many-requests', `Too many requests${why}.`, { retryAfterMs })
}
