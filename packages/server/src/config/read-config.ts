import { constants } from 'node:fs'
import { access, stat, statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { validateAll } from '@muster/core/internal'
import type { Queue } from '@muster/matchmaker'
import { type Config, type ConfigFile, FILE_VERSION, fileSchema, storeOf } from './config.js'
import { checkQueues, createFindings, type Finding, type Findings, InvalidConfig } from './findings.js'
import { readTextFile } from './read-text.js'
import { type Outside, resolveValue, unreadable, weakSecretsIn } from './secret-values.js'
import { contradictionsIn, warningsAbout } from './warnings.js'
import { poolsIn } from './servers-schema.js'
import { readYaml, type Source } from './yaml-source.js'

/** A file that its schema has validated, with the queues that the matchmaker has validated. */
interface CheckedFile {
  readonly file: ConfigFile
  readonly queues: readonly Queue[]
}

type CheckedText = ReturnType<typeof checkText>

/** Values of the sections that a file omits. */
type Defaults = Readonly<Record<string, unknown>>

/**
 * Validates the text of a configuration. Reads neither secrets nor other files.
 * @returns `checked`: the valid file; undefined if there are errors. `findings`: in the order of the text. `locate`:
 * adds a finding after the validation, e.g. for a variable that is not set
 */
export function checkText(text: string, defaults: Defaults = {}) {
  const source = readYaml(text)
  const findings = createFindings(source)
  const checked = source.faults.length === 0 ? checkValue(source, findings, defaults) : undefined
  return { checked, findings: findings.sorted(), locate: findings.locate }
}

function checkValue({ value, document }: Source, findings: Findings, defaults: Defaults): CheckedFile | undefined {
  if (document.contents === null || value === null) {
    findings.of([], 'is empty: `muster init` writes a configuration to begin with')
    return undefined
  }
  const { version } = value as { readonly version?: unknown }
  if (typeof version === 'number' && version > FILE_VERSION) {
    findings.of(['version'], `is ${version}, of a later version of Muster: this one reads ${FILE_VERSION}`)
    return undefined
  }
  const complete = typeof value === 'object' && !Array.isArray(value) ? { ...defaults, ...value } : value
  const { data, faults = [] } = validateAll(fileSchema, complete)
  const given = (value as { readonly queues?: unknown }).queues
  const ofPools = poolsIn((value as { readonly pools?: unknown }).pools)
  const { queues, faults: ofQueues } = checkQueues(Array.isArray(given) ? given : [], ofPools)
  findings.faults([...faults, ...ofQueues], value)
  if (data === undefined || ofQueues.length > 0) return undefined
  const checked = { file: data, queues }
  const contradictions = contradictionsIn(checked)
  for (const { path, message } of contradictions) findings.of(path, message)
  for (const { path, message } of warningsAbout(checked)) findings.of(path, message, 'warning')
  return contradictions.length === 0 ? checked : undefined
}

/** Maximum file size in bytes (1 MiB): enough for a thousand queues with rules, or thousands of cities. */
const LARGEST_FILE = 2 ** 20

/**
 * Reads a text file that must exist.
 * @param name the file's name in errors.
 * @throws {InvalidConfig} if the file cannot be read or is larger than `mostBytes`
 */
export async function needTextFile(path: string, name = path, mostBytes = LARGEST_FILE): Promise<string> {
  const read = await readTextFile(path, mostBytes)
  if (read.wrong !== undefined) throw InvalidConfig.because(name, read.wrong)
  return read.text
}

export interface ReadOptions {
  /** The environment variables. Default `process.env`. */
  readonly env?: Outside['env'] | undefined
  /**
   * True: secrets are read from the environment and from files, and the location database must be readable. Default
   * true. False: all secrets are empty, e.g. for `check` in CI.
   */
  readonly outside?: boolean | undefined
}

export interface ReadConfig {
  readonly config: Config
  readonly warnings: readonly Finding[]
  /** The text of the file when it was read. A later text that differs shows that the file has changed. */
  readonly text: string
}

/**
 * Reads a configuration from a file.
 * @throws {InvalidConfig} with all faults, by line and column
 */
export async function readConfig(path: string, options: ReadOptions = {}): Promise<ReadConfig> {
  return readConfigText(await needTextFile(path), { ...options, path })
}

/**
 * Reads a configuration from a string.
 * @param options with the `path` for errors, whose folder is the base of relative paths
 * @throws {InvalidConfig} like `readConfig`
 */
export function readConfigText(text: string, options: ReadOptions & { readonly path: string }): Promise<ReadConfig> {
  return readWithDefaults(text, {}, options)
}

/**
 * Reads a configuration from a string, with `defaults` for the sections that it omits.
 * @throws {InvalidConfig} like `readConfig`
 */
export async function readWithDefaults(
  text: string,
  defaults: Defaults,
  { path, env = process.env, outside = true }: ReadOptions & { readonly path: string },
): Promise<ReadConfig> {
  const found = checkText(text, defaults)
  const { checked, findings } = found
  if (checked === undefined) throw new InvalidConfig(path, findings)
  const folder = dirname(resolve(path))
  const { config, wrong, doubtful } = await withOutside(checked, found, { env, folder, secrets: outside })
  if (wrong.length > 0) throw new InvalidConfig(path, inOrder([...findings, ...wrong]))
  return { config, warnings: inOrder([...findings, ...doubtful]), text }
}

async function withOutside({ file, queues }: CheckedFile, { locate }: CheckedText, outside: Outside) {
  const { value, missing } = await resolveValue({ ...file, queues: [] }, outside)
  // `resolveValue` changes only secrets and paths. The cast is needed because it also types lists as read-only.
  const pools = value.pools as Config['pools']
  const config: Config = { ...value, queues, pools, store: storeOf(value.store) }
  if (!outside.secrets) return { config, wrong: [], doubtful: [] }
  const database = config.locate?.file
  const whyNot = database === undefined ? undefined : await unreadable(database)
  const noDatabase = whyNot === undefined ? [] : [{ path: ['locate', 'file'], message: whyNot }]
  const weak = missing.length > 0 ? [] : weakSecretsIn(config)
  const wrong = [...missing, ...noDatabase, ...weak].map(({ path, message }) => locate(path, message, 'error'))
  const isWritten = config.store.kind !== 'folder' || (await isWritable(config.store.path))
  const doubtful = isWritten
    ? []
    : [locate(['store', 'folder'], 'cannot be written by this user, nor made: Muster would not start', 'warning')]
  return { config, wrong, doubtful }
}

/**
 * Type numbers of the file systems proc and sysfs (linux/magic.h). Nobody can create a folder there, although `access`
 * reports that root may.
 */
const OF_THE_KERNEL: readonly number[] = [0x9fa0, 0x6265_6572]

/** Returns true if this user can write in a folder, or can create it. */
async function isWritable(folder: string): Promise<boolean> {
  try {
    if (!(await stat(folder)).isDirectory()) return false
    await access(folder, constants.W_OK | constants.X_OK)
    return !OF_THE_KERNEL.includes((await statfs(folder)).type)
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    return isMissing && dirname(folder) !== folder && (await isWritable(dirname(folder)))
  }
}

const inOrder = (findings: readonly Finding[]) =>
  findings.toSorted((one, other) => (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0))
