import { readFile } from 'node:fs/promises'

/** The most files and sockets that this process may have open at once; undefined where the system does not tell. */
export async function descriptorLimit(path = '/proc/self/limits'): Promise<number | undefined> {
  const limits = await readFile(path, 'utf8').catch(() => '')
  const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1]
  return soft === undefined ? undefined : Number(soft)
}
