import { fork } from 'node:child_process'
import { follow } from './followed.js'

export interface ForkOptions {
  /** Arguments of Node.js. */
  readonly execArgv?: readonly string[]
  /** Milliseconds after which the process is given up. Default: no limit. */
  readonly patienceMs?: number
}

/** Thrown if a measurement takes longer than its patience. */
export class GivenUp extends Error {
  override readonly name = 'GivenUp'
}

/**
 * Runs a program of the benchmark in a process of its own. Resolves with the result, which the program sends as its
 * only message.
 * @throws {GivenUp}; {Error} if the program ends without a message
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
    // If the process is given up, its end is no further error.
    answer.catch(() => {})
    child.kill()
  }
}
