import { z } from 'zod'

/**
 * A fault of the packets that the relay sends, including its answers to pings. At least one of the four fields is set.
 */
export interface PacketFault {
  /** The share of packets lost, 0 to 1. Default 0. */
  readonly loss?: number | undefined
  /** Milliseconds of the clock by which each packet is delayed, up to 10,000. Default 0. */
  readonly delayMs?: number | undefined
  /**
   * Milliseconds added to the delay at most, up to 10,000, drawn per packet; packets may overtake one another. Default
   * 0.
   */
  readonly jitterMs?: number | undefined
  /** The share of packets held back until the session's next packet has left, 0 to 1; for 100 ms at most. Default 0. */
  readonly reorder?: number | undefined
}

const share = z.number().min(0).max(1)
// The bound on delays bounds the memory for delayed packets, which come at most at the session's packet rate.
const milliseconds = z.number().min(0).max(10_000)

export const PacketFault: z.ZodType<PacketFault> = z
  .strictObject({
    loss: share.optional(),
    delayMs: milliseconds.optional(),
    jitterMs: milliseconds.optional(),
    reorder: share.optional(),
  })
  .refine(
    (fault) => Object.values(fault).some((value) => value !== undefined),
    'must have loss, delayMs, jitterMs or reorder',
  )
