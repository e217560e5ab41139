import { dirname, resolve } from 'node:path'
import { checkText, type CheckedFile, type CheckedText } from './check-text.js'
import { storeOf, type Config } from './config.js'
import { InvalidConfig, type Finding } from './finding.js'
import { isReadable, resolveValue, type Outside } from './outside.js'
import { readTextFile } from './read-text.js'
import { weakSecretsIn } from './weak-secrets.js'

/** Largest configuration in bytes: a thousand queues with rules, and much room. */
const LARGEST_FILE = 2 ** 20

export interface ReadOptions {
  /** Default `process.env`. */
  readonly env?: Outside['env'] | undefined
  /**
   * Whether what the file refers to is looked at: variables, files of secrets, databases. Default true. Without it the
   * secrets of the configuration are empty: for checks where they are not at hand.
   */
  readonly outside?: boolean | undefined
}

export interface ReadConfig {
  readonly config: Config
  readonly warnings: readonly Finding[]
  /** The text as it was read, e.g. to see whether the file has changed. */
  readonly text: string
}

/**
 * Reads a configuration from a file.
 * @throws {InvalidConfig} with all that is wrong, by line and column
 */
export async function readConfig(path: string, options: ReadOptions = {}): Promise<ReadConfig> {
  const read = await readTextFile(path, LARGEST_FILE)
  if (read.wrong !== undefined) throw new InvalidConfig(path, [{ severity: 'error', field: '', message: read.wrong }])
  return readConfigText(read.text, { ...options, path })
}

/**
 * Reads a configuration from a text.
 * @param options with the `path` that errors name, and whose folder relative paths begin at
 * @throws {InvalidConfig} as `readConfig`
 */
export async function readConfigText(
  text: string,
  options: ReadOptions & { readonly path: string },
): Promise<ReadConfig> {
  const { path, env = process.env, outside = true } = options
  const found = checkText(text)
  const { checked, findings } = found
  if (checked === undefined) throw new InvalidConfig(path, findings)
  const folder = dirname(resolve(path))
  const { config, wrong } = await withOutside(checked, found, { env, folder, secrets: outside })
  if (wrong.length > 0) throw new InvalidConfig(path, inOrder([...findings, ...wrong]))
  return { config, warnings: findings, text }
}

async function withOutside({ file, queues }: CheckedFile, { locate }: CheckedText, outside: Outside) {
  const { value, missing } = await resolveValue({ ...file, queues: [] }, outside)
  const config: Config = { ...value, queues, store: storeOf(value.store) }
  if (!outside.secrets) return { config, wrong: [] }
  const database = config.locate?.file
  const noDatabase =
    database === undefined || (await isReadable(database))
      ? []
      : [{ path: ['locate', 'file'], message: 'cannot be read: there is no such file, or this user may not' }]
  const weak = missing.length > 0 ? [] : weakSecretsIn(config)
  const wrong = [...missing, ...noDatabase, ...weak].map(({ path, message }) => locate(path, message, 'error'))
  return { config, wrong }
}

const inOrder = (findings: readonly Finding[]) =>
  findings.toSorted((one, other) => (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0))
