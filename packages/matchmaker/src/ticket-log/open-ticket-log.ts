import { resolve } from 'node:path'
import { InvalidInput } from '@muster/core'
import { systemClock, type Clock } from '@muster/core/clock'
import { z } from 'zod'
import { read } from '@muster/core/validation'
import { readIfThere, takeLock } from '@muster/servers'
import { createFileTicketLog } from './file-ticket-log.js'
import { LogDamaged } from './log-errors.js'
import { LogFile } from './log-file.js'
import { readLog } from './log-lines.js'
import type { TicketLog } from './ticket-log.js'

export interface TicketLogOptions {
  /**
   * Path of the file, in an existing folder. Beside it are `<path>.lock` while the log is open, and `<path>.new` while
   * the file is rewritten. All are readable by their user only.
   */
  readonly path: string
  /**
   * What a power failure can lose. The end of the process, even by kill -9, loses nothing with any choice: the
   * operating system has a ticket before `createTicket` returns.
   * - `always`: nothing. Each write waits for the disk, and with it the whole process: for few tickets a second;
   * - `every-second` (default): the last second or two;
   * - `never`: as much as the operating system has not written yet, some 30 seconds on Linux.
   */
  readonly fsync?: 'always' | 'every-second' | 'never' | undefined
  /**
   * Smallest size in bytes at which the file is rewritten without tickets that ended. Above it, the file is rewritten
   * whenever it has grown to three times its size after the last rewrite. Default 4 MiB.
   */
  readonly compactAtBytes?: number | undefined
  readonly clock?: Clock | undefined
}

const schema = z.strictObject({
  path: z.string().min(1),
  fsync: z.enum(['always', 'every-second', 'never']).default('every-second'),
  compactAtBytes: z
    .int()
    .min(1)
    .default(2 ** 22),
  clock: z.custom<Clock>((value) => typeof Reflect.get(Object(value), 'now') === 'function').default(systemClock),
})

/**
 * Opens the log of a matchmaker's tickets, and reads what an earlier process has left in it; see the option
 * `ticketLog`. A lock of the kernel admits one process at a time.
 * @throws {InvalidInput} naming the option and the value; {JournalLocked} while another process has the file open;
 *   {LogUnreadable} if the file is something else, or of another version
 */
export async function openTicketLog(options: TicketLogOptions): Promise<TicketLog> {
  const config = read(schema, options, (field, message) => new InvalidInput(`option ${message}`, { field }))
  const path = resolve(config.path)
  const lock = await takeLock(`${path}.lock`, undefined, 'ticket log')
  try {
    const bytes = await readIfThere(path, 'ticket log')
    const { records, goodBytes, damage } = readLog(path, bytes)
    const file = await LogFile.open(path, goodBytes)
    return createFileTicketLog({
      ...config,
      path,
      lock,
      file,
      stored: records,
      damage: damage && new LogDamaged(path, damage),
    })
  } catch (error) {
    await lock.release()
    throw error
  }
}
