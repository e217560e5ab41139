import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

/** A process of a benchmark that answers each message by one. */
export interface Followed {
  /** What it says next. Rejects if it ends before. */
  readonly answer: () => Promise<unknown>
  readonly ask: (message: object | string) => Promise<unknown>
  readonly close: () => void
}

export function follow(child: ChildProcess): Followed {
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('a process of the benchmark ended')))
  // Where nobody waits for an answer, it may end.
  ended.catch(() => {})
  const answer = async (): Promise<unknown> => ((await Promise.race([once(child, 'message'), ended])) as unknown[])[0]
  return {
    answer,
    ask: (message) => {
      const answered = answer()
      child.send(message)
      return answered
    },
    close: () => child.disconnect(),
  }
}
