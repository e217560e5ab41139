import { z } from 'zod'

/** What happens to the packets that the relay sends, answers to pings among them. At least one of the four. */
export interface PacketFault {
  /** How many are lost, 0 to 1. Default 0. */
  readonly loss?: number | undefined
  /** Milliseconds of the clock that each takes, up to 10,000. Default 0. */
  readonly delayMs?: number | undefined
  /** Up to this many more, up to 10,000, drawn per packet; later ones may overtake. Default 0. */
  readonly jitterMs?: number | undefined
  /** How many are held back until the next one of the session has left, 0 to 1; for 100 ms at most. Default 0. */
  readonly reorder?: number | undefined
}

const share = z.number().min(0).max(1)
// What is delayed is kept, at the rate that the session's cap allows.
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
