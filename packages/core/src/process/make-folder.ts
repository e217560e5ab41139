import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Creates a folder, and the folders around it, unless they exist. `mkdir` of Node.js with `recursive` never ends where
 * nobody can create a folder, e.g. below /proc.
 * @param mode permissions of each created folder. Default 0o777, less the umask.
 * @throws the error of the system, e.g. EEXIST if a file has the path
 */
export async function makeFolder(path: string, mode?: number): Promise<void> {
  try {
    await mkdir(path, mode)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' && dirname(path) !== path) {
      // Another process may have created the folder around it after the attempt.
      if (!(await isThere(dirname(path)))) await makeFolder(dirname(path), mode)
      await mkdirUnlessThere(path, mode)
    } else if (!(await isFolder(path))) throw error
  }
}

/** Creates one folder. Another process may have created it meanwhile. */
async function mkdirUnlessThere(path: string, mode: number | undefined): Promise<void> {
  try {
    await mkdir(path, mode)
  } catch (error) {
    if (!(await isFolder(path))) throw error
  }
}

const isThere = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )

const isFolder = (path: string) =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
