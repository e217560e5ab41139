import type { Clock } from '@muster/core/clock'
import { createTicker } from '@muster/core/runtime'
import { RedisTimedOut } from './errors.js'

/** Rejects commands that stay without an answer for too long. */
export interface Deadlines {
  /** The command's result, or a rejection after about `ms` milliseconds. */
  limit<T>(command: Promise<T>, what: string, ms: number): Promise<T>
  close(): Promise<void>
}

interface Waiting {
  readonly since: number
  readonly ms: number
  readonly what: string
  /** Number of commands that had ended when this one began. */
  readonly endedBefore: number
  readonly reject: (error: Error) => void
}

export interface DeadlinesOptions {
  /** Milliseconds between two looks at what waits. */
  readonly everyMs: number
  readonly clock: Clock
  /** Called when a command has waited for its whole time, and no other ended meanwhile. */
  readonly onSilence: () => void
}

/** Looks at all commands at intervals: a timer for each would cost more than the command. */
export function createDeadlines({ everyMs, clock, onSilence }: DeadlinesOptions): Deadlines {
  const waiting = new Set<Waiting>()
  let ended = 0
  const tick = async () => {
    const now = clock.now()
    for (const one of waiting) {
      if (now - one.since < one.ms) continue
      waiting.delete(one)
      const message = `${one.what}: Redis did not answer within ${one.ms} ms; whether it was done is not known`
      one.reject(new RedisTimedOut(message, { code: 'TIMEOUT', outcome: 'unknown' }))
      if (one.endedBefore === ended) onSilence()
    }
  }
  const ticker = createTicker({ clock, everyMs, tick, isNeeded: () => waiting.size > 0 })

  return {
    limit: (command, what, ms) =>
      new Promise((resolve, reject) => {
        const one = { since: clock.now(), ms, what, endedBefore: ended, reject }
        waiting.add(one)
        ticker.wake()
        command.then(resolve, reject).finally(() => {
          ended += 1
          waiting.delete(one)
        })
      }),
    close: () => ticker.stop(),
  }
}
