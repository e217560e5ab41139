import { type Limiter, slidingLog } from '../rate-limits.js'

/**
 * A token bucket that holds the tokens of one second. It works like the API's limiter. It is a plain object with one
 * number that changes, because it is used for every packet and must not allocate.
 */
export interface RateCap {
  readonly msPerPacket: number
  /** The time at which the bucket is full. Each packet delays it by the time in which one token is refilled. */
  fullAt: number
}

const CAPACITY_MS = 1000
/** Waits below this are rounding errors of summed fractions, far below the resolution of any clock. */
const TOLERANCE_MS = 1e-6

export const createRateCap = (packetsPerSecond: number): RateCap => ({
  msPerPacket: CAPACITY_MS / packetsPerSecond,
  fullAt: -Infinity,
})

/** Takes a token for a packet. Returns false if the bucket is empty. */
export function takeFrom(cap: RateCap, now: number): boolean {
  const after = (cap.fullAt > now ? cap.fullAt : now) + cap.msPerPacket
  if (after - now > CAPACITY_MS + TOLERANCE_MS) return false
  cap.fullAt = after
  return true
}

/**
 * Limits of the answers to wrong tokens per second: in one session, and to one source address. Beyond them, wrong
 * tokens get no answer (our choice).
 */
const PER_SESSION = { name: 'invalid tokens of a session', limit: 20, windowMs: 1000 }
const PER_SOURCE = { name: 'invalid tokens of a source', limit: 5, windowMs: 1000 }

/**
 * Maximum number of source addresses in each of the two generations. An attacker can forge any number of sources.
 * Sources beyond the maximum get no answer.
 */
const SOURCES = 1024

export type InvalidTokens = ReturnType<typeof createInvalidTokens>

export const createSessionLimiter = (): Limiter => slidingLog(PER_SESSION)

/**
 * Decides which senders of wrong tokens get an answer. The relay has one instance for all sessions, because a source
 * may try many sessions.
 */
export function createInvalidTokens() {
  // Two generations of limiters, by source address. Each is used for at least a second. The older one is then dropped.
  let recent = new Map<string, Limiter>()
  let older = new Map<string, Limiter>()
  let turnedAt = -Infinity

  const limiterOf = (address: string, now: number): Limiter | undefined => {
    if (now - turnedAt >= PER_SOURCE.windowMs) {
      older = recent
      recent = new Map()
      turnedAt = now
    }
    const known = recent.get(address)
    if (known !== undefined) return known
    if (recent.size === SOURCES) return undefined
    const limiter = older.get(address) ?? slidingLog(PER_SOURCE)
    recent.set(address, limiter)
    return limiter
  }

  return {
    /**
     * Returns true if a wrong token gets an answer. The source's limit is checked first, so that one source cannot use
     * up the session's answers.
     * @param session the limiter of the session in which the token was tried.
     */
    mayAnswer: (session: Limiter, address: string, now: number) =>
      limiterOf(address, now)?.take(now) === 0 && session.take(now) === 0,
    /** Returns the number of remembered source addresses. */
    sources: () => recent.size + older.size,
  }
}
