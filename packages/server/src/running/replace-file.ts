import { randomUUID } from 'node:crypto'
import { open, readFile, rename, rm, stat } from 'node:fs/promises'
import { NotEdited } from './edit-queue.js'

/**
 * Gives a file another text in one step: whoever reads it finds the one or the other. Mode and owner stay.
 * @param target path of the file itself: a link would become a file.
 * @param before the text that it had.
 * @throws {NotEdited} if it has another by now
 */
export async function replaceFile(target: string, text: string, before: string): Promise<void> {
  const { mode, uid, gid } = await stat(target)
  const beside = `${target}.${randomUUID().slice(0, 8)}.new`
  try {
    const file = await open(beside, 'wx', mode)
    try {
      await file.writeFile(text)
      // The owner stays, where this user may say so.
      await file.chown(uid, gid).catch(() => {})
      await file.sync()
    } finally {
      await file.close()
    }
    if ((await readFile(target, 'utf8')) !== before) throw new NotEdited('the file was changed meanwhile')
    await rename(beside, target)
  } catch (error) {
    await rm(beside, { force: true })
    throw error
  }
}
