import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../time.js'
import { type Awaitable, growingTo } from '../runtime/index.js'
import { Problem } from './answers.js'
import { type AttemptLimit, createAttempts, createMemoryLimitStore, type LimitStore } from './attempts.js'

/** An authenticated caller. */
export interface Caller {
  /** Identifies the caller, at least for rate limits. */
  readonly id: string
}

export interface RequestLimits<Who> {
  readonly perCaller?: AttemptLimit | undefined
  /**
   * Requests of one address; of IPv6, of one /64. Requests of unknown address share one count. Of requests of known
   * callers, of unknown tokens and without a caller, each may be as many.
   */
  readonly perAddress?: AttemptLimit | undefined
  /** Callers without limits, e.g. the game's own backend. Default none. */
  readonly exempt?: ((caller: Who) => boolean) | undefined
  /**
   * Callers who count for themselves alone, and not for their address: e.g. game servers, of which one address has as
   * many as there are machines behind it. Default none.
   */
  readonly apart?: ((caller: Who) => boolean) | undefined
  /** Where requests are counted, as `perCaller` and `perAddress`. Default: in memory. */
  readonly store?: LimitStore | undefined
}

/** Finds out who calls, and what can be said of a token before it is checked. */
export interface Identification<Who> {
  readonly authenticate: () => Awaitable<Who | undefined>
  /** The caller of a token that was verified before: known at no cost. */
  readonly recall?: (() => Who | undefined) | undefined
  /** Whether the token is signed, so that guessing it is hopeless, and checking it costs a signature. */
  readonly isSigned?: (() => boolean) | undefined
}

/** Decides who may call, before the body is read. */
export interface Admission<Who extends Caller> {
  /** Counts a request without a caller. Rejects with a {Problem} 429. */
  anonymous(from: string): Promise<undefined>
  /** Rejects with a {Problem} 401 (unknown caller) or 429 (too many); or with what `authenticate` throws. */
  caller(request: Request, from: string, identification: Identification<Who>): Promise<Who>
  isExempt(caller: Who): boolean
}

/** The key of all requests whose address is unknown. */
export const UNKNOWN_ADDRESS = 'unknown'

/**
 * Signed tokens that are checked for an address whose guesses are used up, and for all such addresses together (our
 * choice): a signature takes up to 0.2 ms.
 */
const SIGNATURES: AttemptLimit = { limit: 100, windowMs: 1000 }
const SIGNATURES_IN_ALL: AttemptLimit = { limit: 1000, windowMs: 1000 }
/** Authorizations that are remembered, each with the address that it was used from (our choice): about 2 MB. */
const MOST_REMEMBERED = 10_000

/**
 * Creates the admission. Three counts are kept for each address, each with the limit `perAddress`: requests of known
 * callers, tokens that are not known, and requests without a caller. So wrong tokens of one do not keep out others at
 * the same address, whose tokens were accepted from there before. Once the guesses of an address are used up, a token
 * that is new there is refused before it is looked at, also the right one; only signed tokens are still checked, so
 * many a second.
 */
export function createAdmission<Who extends Caller>(limits: RequestLimits<Who>, clock: Clock): Admission<Who> {
  const { perCaller, perAddress, exempt, apart, store = createMemoryLimitStore(clock) } = limits
  const callers = perCaller && store.attempts('perCaller', perCaller)
  const known = perAddress && store.attempts('perAddress', perAddress)
  const guesses = perAddress && store.attempts('perAddress.guesses', perAddress)
  const anonymous = perAddress && store.attempts('perAddress.anonymous', perAddress)
  const signatures = createAttempts({ ...SIGNATURES, clock })
  const signaturesInAll = createAttempts({ ...SIGNATURES_IN_ALL, clock, maxKeys: 1 })
  /** Whether the caller does not count for the address, by address and authorization. */
  const remembered = new LRUCache<string, boolean>(growingTo(MOST_REMEMBERED))
  const isExempt = (caller: Who) => exempt?.(caller) === true
  const isApart = (caller: Who) => isExempt(caller) || apart?.(caller) === true

  /** The key of the previous request: callers repeat requests, and a digest is slow. */
  let last = { header: '', from: '', key: '' }
  const keyOf = (request: Request, from: string): string | undefined => {
    const header = request.headers.get('authorization') ?? ''
    // A cookie, or a token of the URL.
    if (header === '') return undefined
    // What is remembered of an authorization is a digest, not the token.
    if (header !== last.header || from !== last.from)
      last = { header, from, key: `${from} ${hash('sha256', header, 'base64')}` }
    return last.key
  }

  /** Admits a known caller, which counts unless it was counted. */
  const admit = async (caller: Who, from: string, isCounted = false): Promise<Who> => {
    if (isApart(caller)) {
      if (isCounted) known?.giveBack(from)
      if (isExempt(caller)) return caller
    } else if (!isCounted) assertNoWait(await known?.take(from), from)
    assertNoWait(await callers?.take(caller.id))
    return caller
  }

  /** Identifies a caller whose authorization was accepted from this address before. */
  const again = async (key: string, from: string, { authenticate }: Identification<Who>): Promise<Who> => {
    const waitMs = (await known?.take(from)) ?? 0
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

  const mayCheckSigned = (from: string, { isSigned }: Identification<Who>) =>
    isSigned?.() === true && signatures.take(from) === 0 && signaturesInAll.take('all') === 0

  /** Identifies a caller by an authorization that is new at this address. */
  const first = async (key: string | undefined, from: string, identification: Identification<Who>): Promise<Who> => {
    const waitMs = (await guesses?.take(from)) ?? 0
    if (waitMs > 0 && !mayCheckSigned(from, identification)) throw tooMany(waitMs, from)
    const giveBack = () => {
      if (waitMs === 0) guesses?.giveBack(from)
    }
    let caller: Who
    try {
      caller = assertKnown(await identification.authenticate())
    } catch (error) {
      // Any other error says nothing against the token.
      if (!isUnknown(error)) giveBack()
      throw error
    }
    giveBack()
    if (key !== undefined) remembered.set(key, isApart(caller))
    return admit(caller, from)
  }

  return {
    isExempt,
    anonymous: async (from) => assertNoWait(await anonymous?.take(from), from),
    caller: (request, from, identification) => {
      const recalled = identification.recall?.()
      if (recalled !== undefined) return admit(recalled, from)
      const key = known && keyOf(request, from)
      const isRemembered = key !== undefined && remembered.has(key)
      return isRemembered ? again(key, from, identification) : first(key, from, identification)
    },
  }
}

/** @throws {Problem} 401 for an unknown caller. */
function assertKnown<Who>(caller: Who | undefined): Who {
  if (caller !== undefined && caller !== null) return caller
  throw new Problem(401, 'unauthorized', 'Unknown caller. Send `Authorization: Bearer <token>` with a valid token.', {
    headers: { 'www-authenticate': 'Bearer' },
  })
}

/** Whether the error says that nobody gave out the token. */
const isUnknown = (error: unknown) => error instanceof Problem && error.status === 401

function assertNoWait(waitMs = 0, from?: string): undefined {
  if (waitMs > 0) throw tooMany(waitMs, from)
}

function tooMany(retryAfterMs: number, from?: string): Problem {
  // The message helps the operator who mounts the API, and reveals nothing to a client.
  const why = from === UNKNOWN_ADDRESS ? ': client addresses are unknown here, so all callers count as one' : ''
  return new Problem(429, 'too-many-requests', `Too many requests${why}.`, { retryAfterMs })
}
