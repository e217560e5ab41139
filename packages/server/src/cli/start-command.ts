import { InvalidInput } from '@muster/core'
import { isStartable } from '../running/index.js'
import type { Terminal } from './terminal.js'

/**
 * Checks that the program of a command can be started, before anything else is. Checks nothing for an empty command.
 * @throws {InvalidInput}
 */
export async function assertProgram([program]: readonly string[], { folder, env }: Terminal): Promise<void> {
  if (program === undefined || (await isStartable(program, folder, env['PATH']))) return
  throw new InvalidInput(
    `${JSON.stringify(program)} is not a program that can be started. ` +
      'The command of a game server stands after --, like -- node server.js',
  )
}
