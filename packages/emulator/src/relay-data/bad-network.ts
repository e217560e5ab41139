import type { Random } from '@muster/core/clock'
import type { Timers } from '../timers.js'
import type { PacketCounters } from './packet-counters.js'
import type { PacketFault } from './packet-fault.js'
import type { Send } from './session-traffic.js'

/** Milliseconds after which a held-back packet is sent even if no other packet follows. */
const HELD_MS = 100

export interface BadNetworkDeps {
  readonly random: Random
  /** Timers of the clock, not sped up. */
  readonly timers: Timers
  readonly counters: PacketCounters
}

/** Wraps a send function, so that packets are lost, delayed and reordered as the fault declares. */
export function throughBadNetwork(fault: PacketFault, { random, timers, counters }: BadNetworkDeps, send: Send): Send {
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
