import { randomBytes } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'

const BYTES = 32

/**
 * Reads a key of this program's own from a file, which nobody else may read, or makes one. A file of another length was
 * not written by us to its end, and is replaced: nobody holds anything that it signed. For one process at a time.
 */
export async function readOwnKey(path: string): Promise<Uint8Array> {
  const found = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (found?.length === BYTES) return found
  const key = randomBytes(BYTES)
  const beside = `${path}.new`
  await writeFile(beside, key, { mode: 0o600, flush: true })
  await rename(beside, path)
  return key
}
