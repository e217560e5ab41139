import { type FileHandle, lstat, open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * If root writes a file or folder into the folder of another user, e.g. with `sudo muster migrate`, gives it to that
 * user. The user's own process could not open it otherwise. A file to which the user has made a link stays root's.
 * @param file the open file or folder. Default: opens it
 */
export async function giveToOwner(path: string, file?: FileHandle): Promise<void> {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = await stat(dirname(path))
  if (uid === 0) return
  const opened = file ?? (await open(path))
  try {
    const [named, found] = await Promise.all([lstat(path), opened.stat()])
    const isOther = named.ino !== found.ino || named.dev !== found.dev
    // A folder has several links, but nobody can make another one.
    const isLinked = isOther || (!found.isDirectory() && found.nlink !== 1)
    if (!isLinked) await opened.chown(uid, gid)
  } finally {
    if (file === undefined) await opened.close()
  }
}
