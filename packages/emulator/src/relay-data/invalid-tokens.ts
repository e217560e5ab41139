import type { Limiter } from '../limits/limiter.js'
import { slidingLog } from '../limits/sliding-log.js'

/**
 * Answers to wrong tokens in any second, in one session and to one source address; then there is silence (our choice).
 */
const PER_SESSION = { name: 'invalid tokens of a session', limit: 20, windowMs: 1000 }
const PER_SOURCE = { name: 'invalid tokens of a source', limit: 5, windowMs: 1000 }

/** Sources remembered from one second; made-up ones can be any number. Those that do not fit get no answer. */
const SOURCES = 1024

/** Decides which senders of wrong tokens are told so. One per relay: a source may try at many sessions. */
export interface InvalidTokens {
  /** @param session the limiter of the session in which the token was tried. */
  mayAnswer(session: Limiter, address: string, now: number): boolean
  /** How many sources are remembered. */
  sources(): number
}

export const createSessionLimiter = (): Limiter => slidingLog(PER_SESSION)

export function createInvalidTokens(): InvalidTokens {
  // Two generations, each of a second or more: what has fallen out of the older one does not count any more.
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
    // The source is asked first: a single one does not use up the answers of all.
    mayAnswer: (session, address, now) => limiterOf(address, now)?.take(now) === 0 && session.take(now) === 0,
    sources: () => recent.size + older.size,
  }
}
