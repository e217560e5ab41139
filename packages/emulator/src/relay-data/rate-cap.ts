/**
 * A token bucket that holds the tokens of one second. It works as the API's limiter does, but is a plain object with
 * one changing number, because it is used for every packet and must not allocate.
 */
export interface RateCap {
  readonly msPerPacket: number
  /** The time at which the bucket is full; each packet delays it by the time in which one token is refilled. */
  fullAt: number
}

const CAPACITY_MS = 1000
/** Sums of fractions have rounding errors far below any clock's resolution. */
const TOLERANCE_MS = 1e-6

export const createRateCap = (packetsPerSecond: number): RateCap => ({
  msPerPacket: CAPACITY_MS / packetsPerSecond,
  fullAt: -Infinity,
})

/** Takes a token for one packet. Returns false if the bucket is empty. */
export function takeFrom(cap: RateCap, now: number): boolean {
  const after = (cap.fullAt > now ? cap.fullAt : now) + cap.msPerPacket
  if (after - now > CAPACITY_MS + TOLERANCE_MS) return false
  cap.fullAt = after
  return true
}
