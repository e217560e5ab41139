import { fork } from 'node:child_process'
import { follow } from './followed.js'

export interface ForkOptions {
  /** Arguments of Node. */
  readonly execArgv?: readonly string[]
  /** Milliseconds after which the process is given up; without, it may take as long as it likes. */
  readonly patienceMs?: number
}

/** A measurement took longer than the patience for it. */
export class GivenUp extends Error {
  override readonly name = 'GivenUp'
}

/**
 * What a program of the benchmark measures in a process of its own and sends as its one message.
 * @throws {GivenUp}; {Error} if it ends without a message
 */
export async function measuredBy<Result>(
  program: URL,
  args: readonly string[] = [],
  { execArgv = [], patienceMs }: ForkOptions = {},
): Promise<Result> {
  const child = fork(program, args, { execArgv: [...execArgv] })
  const answer = follow(child).answer() as Promise<Result>
  let timer: NodeJS.Timeout | undefined
  const timeIsUp = new Promise<never>((_, reject) => {
    if (patienceMs !== undefined) timer = setTimeout(() => reject(new GivenUp(`after ${patienceMs} ms`)), patienceMs)
  })
  try {
    return await Promise.race([answer, timeIsUp])
  } finally {
    clearTimeout(timer)
    // If it is given up, its end is not news.
    answer.catch(() => {})
    child.kill()
  }
}
