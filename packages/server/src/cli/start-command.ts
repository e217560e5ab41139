import { access, constants, stat } from 'node:fs/promises'
import { delimiter, join, resolve } from 'node:path'
import { InvalidInput } from '@muster/core'
import type { Terminal } from './terminal.js'

/**
 * Checks that the program of a command can be started, before anything else is. Checks nothing on Windows, which finds
 * programs in other ways, and nothing for an empty command.
 * @throws {InvalidInput}
 */
export async function assertProgram(command: readonly string[], { folder, env }: Terminal): Promise<void> {
  const [program] = command
  if (program === undefined || process.platform === 'win32') return
  const paths = program.includes('/')
    ? [resolve(folder, program)]
    : (env['PATH'] ?? process.env['PATH'] ?? '').split(delimiter).map((place) => join(resolve(folder, place), program))
  for (const path of program === '' ? [] : paths) if (await isExecutable(path)) return
  throw new InvalidInput(
    `${JSON.stringify(program)} is not a program that can be started. ` +
      'The command of a game server stands after --, like -- node server.js',
  )
}

/** Returns true for a file that this user may execute. A folder has the same permission, for another purpose. */
async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return (await stat(path)).isFile()
  } catch {
    return false
  }
}
