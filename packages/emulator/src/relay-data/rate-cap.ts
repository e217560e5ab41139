/**
 * A token bucket that holds one second's worth. The same as that of the API's limits, but a plain object with
 * one changing number: it is asked for every packet, and must make no garbage.
 */
export interface RateCap {
  readonly msPerPacket: number
  /** When the bucket will be (or was) full; each packet puts it off by the time that one packet takes. */
  fullAt: number
}

const CAPACITY_MS = 1000
/** Additions of fractions leave errors far below any clock's resolution. */
const TOLERANCE_MS = 1e-6

export const createRateCap = (packetsPerSecond: number): RateCap => ({
  msPerPacket: CAPACITY_MS / packetsPerSecond,
  fullAt: -Infinity,
})

/** Lets one more pass, if it may. */
export function takeFrom(cap: RateCap, now: number): boolean {
  const after = (cap.fullAt > now ? cap.fullAt : now) + cap.msPerPacket
  if (after - now > CAPACITY_MS + TOLERANCE_MS) return false
  cap.fullAt = after
  return true
}
