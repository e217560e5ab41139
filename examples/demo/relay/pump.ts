import type { Clock } from '@muster/core/clock'
import type { Connection } from './connection.js'

/** Makes all connections send, one after another and at equal intervals. */
export interface Pump {
  add(connection: Connection): void
  remove(connection: Connection): void
  stop(): void
}

export interface PumpOptions {
  readonly clock: Clock
  /** Number of packets per second of each connection. */
  readonly perSecond: number
  /** Maximum number of packets per second of all connections together. */
  readonly mostPerSecond: number
  /** `also` is called once in this number of packets. */
  readonly every: number
  readonly also: () => void
}

const STEP_MS = 2
/**
 * Maximum milliseconds of missed packets that are sent later. Further packets that the process was too busy to send are
 * dropped.
 */
const LATE_MS = 20

export function startPump({ clock, perSecond, mostPerSecond, every, also }: PumpOptions): Pump {
  const connections: Connection[] = []
  const stopped = new AbortController()
  let next = 0
  let count = 0

  const sendOne = () => {
    next = (next + 1) % connections.length
    connections[next]?.send()
    count += 1
    if (count % every === 0) also()
  }
  const run = async () => {
    let due = 0
    for (let last = clock.now(); !stopped.signal.aborted;) {
      await clock.sleep(STEP_MS, stopped.signal)
      const now = clock.now()
      due += (Math.min(now - last, LATE_MS) / 1000) * Math.min(mostPerSecond, connections.length * perSecond)
      last = now
      for (; due >= 1; due -= 1) sendOne()
    }
  }
  void run().catch(() => {}) // is stopped

  return {
    add: (connection) => void connections.push(connection),
    remove: (connection) => {
      const index = connections.indexOf(connection)
      if (index !== -1) connections.splice(index, 1)
    },
    stop: () => stopped.abort(),
  }
}
