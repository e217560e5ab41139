import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

/** A process of a benchmark. It answers each message with one message. */
export interface Followed {
  /** Resolves with the process's next message. Rejects if the process ends before. */
  readonly answer: () => Promise<unknown>
  readonly ask: (message: object | string) => Promise<unknown>
  readonly close: () => void
}

export function follow(child: ChildProcess): Followed {
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('a process of the benchmark ended')))
  // While no answer is expected, the end of the process is no error.
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
