import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Load, ServerState } from './ticket-api-messages.js'

export interface LoadFleet<State extends ServerState> {
  readonly state: () => Promise<State>
  /** Resolves when the load process has done it. */
  readonly order: (child: number, load: Load) => Promise<unknown>
  readonly close: () => void
}

/** A server that answers messages with its state, and processes that ask it. */
export async function setUp<State extends ServerState>(
  server: URL,
  loads: number,
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<LoadFleet<State>> {
  const asked = follow(fork(server, args, { env: { ...process.env, ...env } }))
  await asked.answer()
  const children = Array.from({ length: loads }, () => follow(fork(new URL('./ticket-api-load.js', import.meta.url))))
  return {
    state: async () => (await asked.ask('state')) as State,
    order: (child, load) => (children[child] as Process).ask(load),
    close: () => {
      for (const { close } of [asked, ...children]) close()
    },
  }
}

type Process = ReturnType<typeof follow>

function follow(child: ChildProcess) {
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('a process of the benchmark ended')))
  // Where nobody waits for an answer, it may end.
  ended.catch(() => {})
  const answer = async (): Promise<unknown> => ((await Promise.race([once(child, 'message'), ended])) as unknown[])[0]
  return {
    answer,
    ask: (message: Load | 'state') => {
      const answered = answer()
      child.send(message)
      return answered
    },
    close: () => child.disconnect(),
  }
}
