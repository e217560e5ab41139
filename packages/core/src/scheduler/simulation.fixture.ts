import type { Clock } from '../clock.js'
import { createHeap } from './heap.js'
import type { Limiter, Permit } from './limiter.js'
import type { Scheduler } from './scheduler.js'

/** What happens to one request. All in milliseconds. */
export interface Fate {
  /** From its start until it is written, as when a connection must be opened first. */
  readonly connectMs: number
  /** From written until the server counts it. */
  readonly outMs: number
  /** From then until the server answers. */
  readonly thinkMs: number
  /** From there until the answer arrives. */
  readonly backMs: number
  readonly end: 'answered' | 'answer lost' | 'request lost' | 'never written'
}

export interface Outcome {
  /** When the server counted, in order. */
  readonly counted: readonly number[]
  /** How many requests were started, also those that the server never saw. */
  readonly started: number
}

export interface SimulatedClient {
  readonly limiter: Limiter
  /** When its calls are made, in order. */
  readonly calls: readonly number[]
  /** What happens to its nth start. */
  readonly fate: (n: number) => Fate
}

/** Many processes, the network and one server in virtual time, with limiters alone: no promises, so that thousands of runs are quick. */
export function simulate(clients: readonly SimulatedClient[], untilMs: number): Outcome {
  const events = createHeap<{ readonly at: number; readonly order: number; readonly happen: () => void }>((a, b) =>
    a.at === b.at ? a.order < b.order : a.at < b.at,
  )
  const counted: number[] = []
  let now = 0
  let order = 0
  let started = 0

  const after = (ms: number, happen: () => void) => {
    order += 1
    events.add({ at: now + ms, order, happen })
  }

  const send = (permit: Permit, fate: Fate, ended: () => void) => {
    started += 1
    const lost = () => {
      permit.release(now)
      ended()
    }
    after(fate.connectMs, () => {
      if (fate.end === 'never written') return lost()
      permit.written(now)
      if (fate.end === 'request lost') return after(fate.outMs + fate.thinkMs + fate.backMs, lost)
      after(fate.outMs, () => {
        counted.push(now)
        after(fate.thinkMs + fate.backMs, () => {
          if (fate.end === 'answer lost') return lost()
          permit.answered(now)
          ended()
        })
      })
    })
  }

  for (const { limiter, calls, fate } of clients) {
    let waiting = 0
    let n = 0
    let wakeAt = Number.POSITIVE_INFINITY
    const wake = () => {
      wakeAt = Number.POSITIVE_INFINITY
      start()
    }
    const start = () => {
      while (waiting > 0) {
        const answer = limiter.reserve(now)
        if (answer instanceof Promise) throw new TypeError('a simulated limiter answers at once')
        if (typeof answer === 'number') {
          if (answer < wakeAt) after(answer - now, wake)
          wakeAt = Math.min(wakeAt, answer)
          return
        }
        waiting -= 1
        send(answer, fate(n++), start)
      }
    }
    for (const call of calls) {
      after(call, () => {
        waiting += 1
        start()
      })
    }
  }

  for (let event = events.shift(); event !== undefined && event.at <= untilMs; event = events.shift()) {
    now = event.at
    event.happen()
  }
  return { counted, started }
}

/** A job for a real scheduler that lives through its fate on `clock`, and tells when the server counts it. */
export function simulatedRequest(clock: Clock, fate: Fate, count: (at: number) => void): Parameters<Scheduler['run']>[0] {
  return async (slot) => {
    await clock.sleep(fate.connectMs)
    if (fate.end === 'never written') throw new Error(fate.end)
    slot.written()
    await clock.sleep(fate.outMs)
    if (fate.end !== 'request lost') count(clock.now())
    await clock.sleep(fate.thinkMs + fate.backMs)
    if (fate.end !== 'answered') throw new Error(fate.end)
  }
}
