import { z } from 'zod'
import type { PacketCounters } from '../counters.js'
import type { Surroundings } from '../timers.js'
import type { SendDatagram } from './session-traffic.js'

/**
 * A fault of the packets that the relay sends, including its answers to pings. At least one of the four fields is set.
 */
export interface PacketFault {
  /** Share of the packets that are lost, from 0 to 1. Default 0. */
  readonly loss?: number | undefined
  /** Milliseconds of the clock by which each packet is delayed, up to 10,000. Default 0. */
  readonly delayMs?: number | undefined
  /**
   * Maximum milliseconds that are added to the delay, up to 10,000. The added time is drawn for each packet, so packets
   * may overtake one another. Default 0.
   */
  readonly jitterMs?: number | undefined
  /**
   * Share of the packets that are held back until the session's next packet has been sent, from 0 to 1. A packet is
   * held for at most 100 ms. Default 0.
   */
  readonly reorder?: number | undefined
}

const share = z.number().min(0).max(1)
// The maximum bounds the memory for delayed packets too, because they arrive at most at the session's packet rate.
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

/** Milliseconds after which a held packet is sent even if no other packet follows. */
const HELD_MS = 100

/** What a bad network depends on. The timers run in real time, whatever the emulator's speed. */
interface BadNetworkDeps extends Pick<Surroundings, 'random' | 'timers'> {
  readonly counters: PacketCounters
}

/** Wraps a send function, so that packets are lost, delayed and reordered as the fault declares. */
export function throughBadNetwork(
  fault: PacketFault,
  { random, timers, counters }: BadNetworkDeps,
  send: SendDatagram,
): SendDatagram {
  const { loss = 0, delayMs = 0, jitterMs = 0, reorder = 0 } = fault
  let held: (() => void) | undefined

  const releaseHeld = () => {
    const leave = held
    held = undefined
    leave?.()
  }

  const after = (ms: number, task: () => void) => {
    if (ms === 0) task()
    else timers.after(ms, task)
  }

  return (side, datagram, start, to) => {
    if (random() < loss) {
      counters.dropped.fault++
      return
    }
    const leave = () => send(side, datagram, start, to)
    const ms = delayMs + random() * jitterMs
    if (held === undefined && random() < reorder) {
      held = leave
      timers.after(ms + HELD_MS, () => {
        if (held === leave) releaseHeld()
      })
    } else {
      after(ms, () => {
        leave()
        releaseHeld()
      })
    }
  }
}
