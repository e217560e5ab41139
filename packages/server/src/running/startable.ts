import { access, constants, stat } from 'node:fs/promises'
import { delimiter, resolve } from 'node:path'

/**
 * Returns true if a program can be started. Checks nothing on Windows, which finds programs in other ways.
 * @param program a path, or a name that is looked for
 * @param folder the folder to which paths are relative
 * @param path the folders in which a name is looked for, as in the environment variable `PATH`
 */
export async function isStartable(program: string, folder: string, path = process.env['PATH'] ?? ''): Promise<boolean> {
  if (process.platform === 'win32') return true
  if (program === '') return false
  const places = program.includes('/') ? [''] : path.split(delimiter)
  for (const place of places) if (await isExecutable(resolve(folder, place, program))) return true
  return false
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
