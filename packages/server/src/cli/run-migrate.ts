import { resolve } from 'node:path'
import { openStore } from '@muster/matchmaker'
import { findStoreFiles, type StoreFileFound } from '@muster/matchmaker/internal'
import { connectRedis } from '@muster/redis'
import { readPartitionFormat } from '@muster/redis/internal'
import { type Config, FILE_VERSION, readConfig, type ReadConfig, storeFilesIn } from '../config/index.js'
import { EXIT, type ExitCode, refusal, type Terminal } from './terminal.js'

export interface MigrateOptions {
  readonly config: string
  readonly dryRun?: boolean
}

/**
 * Prints the format versions of all stores, and rewrites files of an earlier version as the next start would. If this
 * program cannot read a store's version, the command fails and changes nothing.
 */
export async function migrate(options: MigrateOptions, terminal: Terminal): Promise<ExitCode> {
  const { config: file, dryRun = false } = options
  try {
    const { config } = await readStored(resolve(terminal.folder, file), terminal)
    terminal.say(`${file}: version ${FILE_VERSION}, the latest`)
    if (config.store.kind === 'memory') terminal.say('store: memory, so nothing is stored')
    else if (config.store.kind === 'folder') await migrateFolder(config.store.path, dryRun, terminal)
    else await tellPartition(config.name, config.store, terminal)
    return EXIT.ok
  } catch (error) {
    return refusal(error, terminal, file)
  }
}

/** Reads the configuration. It needs no secrets, unless one of them is the URL of Redis. */
async function readStored(path: string, { env }: Terminal): Promise<ReadConfig> {
  const read = await readConfig(path, { env, outside: false })
  const { store } = read.config
  return store.kind === 'redis' && typeof store.url !== 'string' ? readConfig(path, { env }) : read
}

async function migrateFolder(folder: string, dryRun: boolean, terminal: Terminal): Promise<void> {
  const files = storeFilesIn(folder)
  const found = await findStoreFiles(files)
  if (found.length === 0) terminal.say(`${files.path}: does not exist yet`)
  for (const one of found) terminal.say(sentenceOf(one, files.path, dryRun))
  if (dryRun || !found.some(({ isOlder }) => isOlder)) return
  // Does what a start does: takes the lock, reads everything, and writes one file of the latest version.
  await (await openStore(files)).close()
  terminal.say(`${files.path}: written in the latest version`)
}

function sentenceOf({ path, version, isOlder, records, damagedLines }: StoreFileFound, into: string, dryRun: boolean) {
  const torn = damagedLines === 0 ? '' : `, ${damagedLines} damaged lines left out`
  const what = `${path}: version ${version}, ${records} records${torn}`
  if (!isOlder) return `${what}; the latest`
  return `${what}; ${dryRun ? 'would be' : 'is'} written to ${into} in the latest version`
}

const whatBecomesOf = ({ format, latest }: { readonly format: number; readonly latest: number }) =>
  format === latest
    ? 'the latest'
    : `which the first leader of this version upgrades to format ${latest}; earlier versions cannot lead it after that`

type RedisConfig = Extract<Config['store'], { readonly kind: 'redis' }>

/** Prints the format of the partition in Redis. @throws if a later version of Muster has led the partition. */
async function tellPartition(name: string, config: RedisConfig, terminal: Terminal): Promise<void> {
  const { prefix, timeoutMs } = config
  const url = typeof config.url === 'string' ? config.url : config.url.reveal()
  const redis = await connectRedis({ client: { url }, prefix, timeoutMs })
  try {
    const found = await readPartitionFormat(redis, name)
    const what = found === undefined ? 'does not exist yet' : `format ${found.format}, ${whatBecomesOf(found)}`
    terminal.say(`partition ${name} in Redis: ${what}`)
  } finally {
    await redis.close()
  }
}
