import type { Clock } from '../time.js'
import type { Limiter, Permit } from './limiter-types.js'
import type { Scheduler } from './scheduler.js'

/** The delays of one request in milliseconds. */
export interface Fate {
  /** Milliseconds from the start until the request is written. More than 0 if a connection must be opened first. */
  readonly connectMs: number
  /** Milliseconds from writing the request until the server counts it. */
  readonly outMs: number
  /** Milliseconds from counting the request until the server responds. */
  readonly thinkMs: number
  /** Milliseconds from sending the response until it arrives. */
  readonly backMs: number
  readonly end: 'answered' | 'answer lost' | 'request lost' | 'never written'
  /** Milliseconds from writing until the caller gives up, if no response comes before. Default: never. */
  readonly giveUpMs?: number
}

export interface Outcome {
  /** Times at which the server counted requests, in order. */
  readonly counted: readonly number[]
  /** Times at which requests were started, in order. They include requests that the server never received. */
  readonly starts: readonly number[]
}

export interface SimulatedClient {
  readonly limiter: Limiter
  /** Times at which the client's calls are made, in order. */
  readonly calls: readonly number[]
  /** Returns the delays of the nth request, which starts at `now`. */
  readonly fate: (n: number, now: number) => Fate
  /**
   * Returns the time at which this process's event loop runs work that is due. A busy loop runs it later. Default:
   * immediately.
   */
  readonly loop?: (due: number) => number
}

/** Makes a loop that is blocked in the given spans. Work that falls due in a span runs at its end. */
export const standstills = (stills: readonly { readonly from: number; readonly until: number }[]) => (due: number) =>
  stills.reduce((at, { from, until }) => (from <= at && at < until ? until : at), due)

/**
 * Simulates several processes, the network and one server in virtual time. It runs only limiters and no promises, so
 * that thousands of runs are fast.
 * @param server returns when the server counts a request that arrives at a given time. Default: immediately.
 */
export function simulate(
  clients: readonly SimulatedClient[],
  untilMs: number,
  server: (due: number) => number = (due) => due,
): Outcome {
  /** Future events, the latest first. Of equal times, the event that was added first runs first. */
  const events: { readonly at: number; readonly happen: () => void }[] = []
  const counted: number[] = []
  const starts: number[] = []
  let now = 0

  const at = (time: number, happen: () => void) => {
    // The events of all calls are in the list from the start, so its place is searched by halves.
    let [from, to] = [0, events.length]
    while (from < to) {
      const middle = (from + to) >> 1
      if ((events[middle]?.at ?? 0) > time) from = middle + 1
      else to = middle
    }
    events.splice(from, 0, { at: time, happen })
  }

  for (const { limiter, calls, fate: fateOf, loop = (due: number) => due } of clients) {
    const after = (ms: number, happen: () => void) => at(loop(now + ms), happen)
    let checking = false
    const check = () => {
      const due = limiter.checkAt?.(now)
      checking = due !== undefined
      if (due === undefined) return
      after(due - now, () => {
        limiter.check?.(now)
        check()
      })
    }

    const send = (permit: Permit, fate: Fate, ended: () => void) => {
      starts.push(now)
      let over = false
      const end = (say: (now: number) => void) => {
        if (over) return
        over = true
        say(now)
        ended()
      }
      const lost = () => end((at) => permit.release(at))
      after(fate.connectMs, () => {
        if (fate.end === 'never written') return lost()
        permit.written(now, fate.connectMs > 0)
        if (!checking) check()
        if (fate.giveUpMs !== undefined) after(fate.giveUpMs, lost)
        if (fate.end === 'request lost') return after(fate.outMs + fate.thinkMs + fate.backMs, lost)
        at(server(now + fate.outMs), () => {
          counted.push(now)
          after(fate.thinkMs + fate.backMs, () =>
            fate.end === 'answer lost' ? lost() : end((at) => permit.answered(at)),
          )
        })
      })
    }

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
        if (answer instanceof Promise) throw new TypeError('a simulated limiter must answer synchronously')
        if (typeof answer === 'number') {
          if (answer < wakeAt) after(answer - now, wake)
          wakeAt = Math.min(wakeAt, answer)
          return
        }
        waiting -= 1
        send(answer, fateOf(n++, now), start)
      }
    }
    for (const call of calls) {
      after(call, () => {
        waiting += 1
        start()
      })
    }
  }

  for (let event = events.pop(); event !== undefined && event.at <= untilMs; event = events.pop()) {
    now = event.at
    event.happen()
  }
  return { counted, starts }
}

/**
 * Makes a job for a real scheduler, with the given delays on `clock`. It reports when the server counts its request.
 */
export function simulatedRequest(
  clock: Clock,
  fate: Fate,
  count: (at: number) => void,
): Parameters<Scheduler['run']>[0] {
  return async (slot) => {
    await clock.sleep(fate.connectMs)
    if (fate.end === 'never written') throw new Error(fate.end)
    slot.written(fate.connectMs > 0)
    await clock.sleep(fate.outMs)
    if (fate.end !== 'request lost') count(clock.now())
    await clock.sleep(fate.thinkMs + fate.backMs)
    if (fate.end !== 'answered') throw new Error(fate.end)
  }
}
