import { readFile, realpath } from 'node:fs/promises'
import { InvalidInput } from '@muster/core'
import type { Config } from '../config/config.js'
import { InvalidConfig, type Finding } from '../config/finding.js'
import { readConfig, readConfigText, type ReadOptions } from '../config/read-config.js'
import type { Log } from '../telemetry/log.js'
import { editQueue, NotEdited } from './edit-queue.js'
import { replaceFile } from './replace-file.js'

export interface ConfigFileOptions {
  readonly path: string
  readonly env?: ReadOptions['env']
}

/** The configuration's file, of which the program has read a version. */
export interface ConfigFile {
  /** As it was read at the start. */
  readonly config: Config
  readonly warnings: readonly Finding[]
  /**
   * Reads the file again, and has it applied if it has changed. A file that is wrong is told, and changes nothing.
   * @param isForced whether it is applied even if its text is the same: what it refers to may have changed.
   */
  readonly reload: (apply: (config: Config) => Promise<unknown>, log: Log, isForced?: boolean) => Promise<void>
  /**
   * Changes a queue in the file, as a whole or not at all, and returns what the file then says.
   * @throws {InvalidInput} why that is not possible
   */
  readonly editQueue: (name: string, yaml: string) => Promise<Config>
}

/** @throws {InvalidConfig} with all that is wrong */
export async function openConfigFile({ path, env }: ConfigFileOptions): Promise<ConfigFile> {
  const first = await readConfig(path, { env })
  /** The text that counts, or was found wrong last. */
  let seen = first.text
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work)
    last = done.catch(() => {})
    return done
  }
  return {
    config: first.config,
    warnings: first.warnings,
    reload: (apply, log, isForced = false) =>
      inTurn(async () => {
        try {
          const { config, text, warnings } = await readConfig(path, { env })
          if (text === seen && !isForced) return
          seen = text
          tellWarnings(log, warnings)
          await apply(config)
        } catch (error) {
          tellNotReloaded(log, error)
        }
      }),
    editQueue: (name, yaml) =>
      inTurn(async () => {
        const { config, text } = await changed({ path, env }, seen, (before) => editQueue(before, name, yaml))
        seen = text
        return config
      }),
  }
}

/** Tells what the author of a configuration may not have meant. */
export function tellWarnings(log: Log, warnings: readonly Finding[]): void {
  for (const { field, message } of warnings) log.warn(`${field}: ${message}`)
}

/** Tells why a configuration does not count. Each line of an InvalidConfig names a place in the file. */
export function tellNotReloaded(log: Log, error: unknown): void {
  log.error('the configuration was not reloaded: nothing has changed')
  const message = error instanceof Error ? error.message : String(error)
  for (const line of message.split('\n')) log.error(line)
}

/** Checks and writes a changed text in one step, unless somebody else has changed the file. */
async function changed(
  { path, env }: Pick<ConfigFileOptions, 'path' | 'env'>,
  seen: string,
  change: (before: string) => string,
) {
  try {
    // A link stays a link.
    const target = await realpath(path)
    const before = await readFile(target, 'utf8')
    if (before !== seen) throw new NotEdited('the file was changed meanwhile: look at what it says now, and try again')
    const read = await readConfigText(change(before), { path, env })
    await replaceFile(target, read.text, before)
    return read
  } catch (error) {
    if (error instanceof InvalidConfig || error instanceof NotEdited) throw new InvalidInput(error.message)
    const code = (error as NodeJS.ErrnoException).code
    if (code === undefined) throw error
    throw new InvalidInput(`the configuration's file cannot be written (${code}): nothing has changed`)
  }
}
