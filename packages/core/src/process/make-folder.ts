import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Creates a folder, and the folders around it, unless they exist. `mkdir` of Node.js with `recursive` never ends where
 * nobody can create a folder, e.g. below /proc.
 * @param mode permissions of each created folder. Default 0o777, less the umask.
 * @throws the error of the system. If a file is in the way, it is EEXIST with the `path` of that file.
 */
export async function makeFolder(path: string, mode?: number): Promise<void> {
  const around = dirname(path)
  if (around !== path && !(await isFolder(around))) await makeFolder(around, mode)
  try {
    await mkdir(path, mode)
  } catch (error) {
    // Another process may have created the folder meanwhile.
    if (!(await isFolder(path))) throw error
  }
}

const isFolder = (path: string) =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
