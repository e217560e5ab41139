import { randomUUID } from 'node:crypto'
import { open, realpath, rename, rm, stat } from 'node:fs/promises'
import { InvalidInput } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import { messageOf, oneAtATime } from '@muster/core/internal'
import {
  type Config,
  type Finding,
  InvalidConfig,
  needTextFile,
  readConfig,
  readConfigText,
  type ReadOptions,
} from '../../config/index.js'
import type { Log } from '../../telemetry/log.js'
import { editQueue, NotEdited } from './edit-queue.js'

/**
 * Replaces the text of a file atomically: readers get the old or the new text. Mode and owner are kept.
 * @param target path of the file itself. A symbolic link at this path would be replaced by a file.
 * @param before the expected old text.
 * @throws {NotEdited} if the file has another text by now
 */
export async function replaceFile(target: string, text: string, before: string): Promise<void> {
  const { mode, uid, gid } = await stat(target)
  const beside = `${target}.${randomUUID().slice(0, 8)}.new`
  try {
    const file = await open(beside, 'wx', mode)
    try {
      await file.writeFile(text)
      // Keeps the owner, if this user may set it.
      await file.chown(uid, gid).catch(() => {})
      await file.sync()
    } finally {
      await file.close()
    }
    if ((await needTextFile(target)) !== before)
      throw new NotEdited('The configuration file was changed during the edit. Repeat the edit.')
    await rename(beside, target)
  } catch (error) {
    await rm(beside, { force: true })
    throw error
  }
}

interface ConfigFileOptions {
  readonly path: string
  readonly env?: ReadOptions['env']
}

/** The configuration file that the program has read and may reload or edit. */
export type OpenConfigFile = Awaited<ReturnType<typeof openConfigFile>>

/** Opens the configuration file. @throws {InvalidConfig} with all faults */
export async function openConfigFile({ path, env }: ConfigFileOptions) {
  const first = await readConfig(path, { env })
  /** The text that is in force. */
  let seen = first.text
  /** True if the last read of the file was refused. */
  let hasFailed = false
  const inTurn = oneAtATime()
  return {
    /** The configuration at the start. */
    config: first.config,
    warnings: first.warnings,
    /**
     * Reads the file again, and applies it if its text has changed. An invalid file is logged, and changes nothing.
     * @param isForced true applies an unchanged text too, because the secrets and files that it names may have changed.
     */
    reload: (apply: (config: Config) => Promise<unknown>, log: Log, isForced = false) =>
      inTurn(async () => {
        try {
          const { config, text, warnings } = await readConfig(path, { env })
          if (text === seen && !isForced) {
            if (hasFailed) log.info('The config file is again as it was before the failed reload.')
          } else {
            await apply(config)
            tellWarnings(log, warnings)
          }
          seen = text
          hasFailed = false
        } catch (error) {
          hasFailed = true
          tellNotReloaded(log, error)
        }
      }),
    /**
     * Changes a queue in the file, completely or not at all. Returns the new configuration.
     * @param inForce the current definition: fields with its defaults are not written.
     * @param apply applies the new configuration. If it rejects, the file gets its previous text back.
     * @throws {InvalidInput} with the reason if the change is not possible, or the error of `apply`
     */
    editQueue: (
      name: string,
      yaml: string,
      inForce?: unknown,
      apply: (next: Config) => Promise<void> = async () => {},
    ): Promise<Config> =>
      inTurn(async () => {
        const before = seen
        const { config, text } = await changeFile({ path, env }, before, (old) => editQueue(old, name, yaml, inForce))
        seen = text
        try {
          await apply(config)
        } catch (error) {
          // The operator is told that nothing has changed, so a restart must not change anything either.
          await replaceFile(await realpath(path), before, text)
          seen = before
          throw error
        }
        return config
      }),
  }
}

/** Logs the warnings about a configuration. */
export function tellWarnings(log: Log, warnings: readonly Finding[]): void {
  for (const { field, message } of warnings) log.warn(`${field}: ${message}`)
}

/**
 * Logs the faults for which a configuration is rejected. Each line of an InvalidConfig names a position in the file.
 */
export function tellNotReloaded(log: Log, error: unknown): void {
  log.error('Config reload failed; the previous config stays active. Errors follow.')
  const message = messageOf(error)
  for (const line of message.split('\n')) log.error(line)
}

/** Validates a changed text and writes it, unless the file was changed meanwhile. */
async function changeFile({ path, env }: ConfigFileOptions, seen: string, change: (before: string) => string) {
  try {
    // Writes the target of a symbolic link, so that the link remains.
    const target = await realpath(path)
    const before = await needTextFile(target)
    if (before !== seen)
      throw new NotEdited('The configuration file was changed before the edit. Read it again and repeat the edit.')
    const read = await readConfigText(change(before), { path, env })
    await replaceFile(target, read.text, before)
    return read
  } catch (error) {
    if (error instanceof InvalidConfig || error instanceof NotEdited) throw new InvalidInput(error.message)
    const code = (error as NodeJS.ErrnoException).code
    if (code === undefined) throw error
    throw new InvalidInput(`The configuration file cannot be written (${code}). Nothing has changed.`)
  }
}

interface WatchFileOptions {
  readonly path: string
  readonly clock: Clock
  /** Called once after a series of changes, when the file has been unchanged for `QUIET_MS`. */
  readonly changed: () => void
  /** Milliseconds between two reads of the file. Default 500. */
  readonly everyMs?: number | undefined
}

/** Milliseconds without a change after which an editor is assumed to have written the whole file (our choice). */
const QUIET_MS = 300

/**
 * Watches one file by polling. This detects a replacement by rename, a symbolic link whose target changes (as
 * Kubernetes mounts files), and changes on network disks. Resolves with a function that ends the watch.
 */
export async function watchFile({
  path,
  clock,
  changed,
  everyMs = 500,
}: WatchFileOptions): Promise<() => Promise<void>> {
  // The library is imported lazily, because players are served before the file is watched.
  const { watch } = await import('chokidar')
  let waiting: AbortController | undefined
  const watcher = watch(path, { ignoreInitial: true, usePolling: true, interval: everyMs, followSymlinks: true })
  watcher.on('all', () => {
    waiting?.abort()
    waiting = new AbortController()
    clock.sleep(QUIET_MS, waiting.signal).then(changed, () => {})
  })
  await new Promise<void>((resolve) => watcher.once('ready', () => resolve()))
  return async () => {
    waiting?.abort()
    await watcher.close()
  }
}
