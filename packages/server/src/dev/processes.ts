import { type Container, type ContainerSpec, type Launch, launchProcess } from '@muster/emulator'
import type { Processes } from '../console/index.js'

/** What runs in place of a container. */
export interface Command {
  /** The program and its arguments. */
  readonly command: readonly string[]
  /** The working directory, absolute. */
  readonly folder: string
}

/**
 * Runs a command for each deployment.
 * @param tell called with each line that one writes
 */
export function createProcesses(
  { command: [program = '', ...args], folder }: Command,
  tell: (line: string, spec: ContainerSpec) => void,
): Processes & { readonly launch: Launch } {
  const running = new Map<string, Container>()
  const start = launchProcess(program, args, { cwd: folder, onLine: tell })
  return {
    launch: async (spec) => {
      const container = await start(spec)
      if (container === undefined) return undefined
      running.set(spec.request_id, container)
      void container.exited.then((code) => {
        running.delete(spec.request_id)
        tell(`has ended with exit code ${code}`, spec)
      })
      return container
    },
    output: (requestId) => running.get(requestId)?.logs(),
    kill: (requestId) => running.get(requestId)?.stop(0),
  }
}
