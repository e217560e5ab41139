import { fork } from 'node:child_process'
import { follow, type Followed } from '../followed.js'
import type { Load, ServerState } from './ticket-api-messages.js'

export interface LoadFleet<State extends ServerState> {
  readonly state: () => Promise<State>
  /** Sends an order to a load process. Resolves once the process has carried it out. */
  readonly order: (child: number, load: Load) => Promise<unknown>
  readonly close: () => void
}

/** Starts a server that answers messages with its state, and the processes that send requests to it. */
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
    order: (child, load) => (children[child] as Followed).ask(load),
    close: () => {
      for (const { close } of [asked, ...children]) close()
    },
  }
}
