import { existsSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'

/** A redis-server that can be run, and the environment that it needs. */
export interface RedisBinary {
  readonly path: string
  readonly env: Readonly<Record<string, string>>
}

type Environment = Readonly<Record<string, string | undefined>>

/** How to get a redis-server, as a text for users who have none. */
export const howToGetRedis = 'get one by `pnpm get:redis` (no root needed), install redis 7, or set MUSTER_REDIS_SERVER'

/**
 * Returns the folder in which a tool is cached, by default the redis-server of `pnpm get:redis`. All clones of this
 * repository that a user has share the folder.
 */
export const cacheFolder = (env: Environment = process.env, tool = 'redis'): string =>
  join(env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'muster', tool)

/**
 * Finds a redis-server: the file that MUSTER_REDIS_SERVER names, or one on the PATH, or the one that `pnpm get:redis`
 * has fetched. Returns undefined if there is none.
 */
export function findRedisServer(env: Environment = process.env): RedisBinary | undefined {
  const named = env['MUSTER_REDIS_SERVER']
  if (named !== undefined && named !== '') {
    if (!existsSync(named)) throw new Error(`MUSTER_REDIS_SERVER names ${named}, which does not exist`)
    return { path: named, env: {} }
  }
  const installed = (env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'redis-server'))
    .find((path) => existsSync(path))
  return installed === undefined ? unpackedIn(cacheFolder(env)) : { path: installed, env: {} }
}

/** Returns the command that starts the redis-server in a shell. */
export const commandOf = ({ path, env }: RedisBinary): string =>
  [...Object.entries(env).map(([name, value]) => `${name}=${value}`), path].join(' ')

/** Returns the redis-server of Debian packages that were unpacked into a folder, together with its libraries. */
export function unpackedIn(folder: string): RedisBinary | undefined {
  const path = join(folder, 'usr/bin/redis-server')
  if (!existsSync(path)) return undefined
  return { path, env: { LD_LIBRARY_PATH: libraryFolders(folder).join(delimiter) } }
}

/** Returns `usr/lib`, `lib`, and two levels of folders below them, such as `usr/lib/x86_64-linux-gnu/pulseaudio`. */
export function libraryFolders(folder: string): string[] {
  return ['usr/lib', 'lib'].flatMap((name) => foldersAt(join(folder, name), 2))
}

/** Returns a folder and the folders below it, down to `depth` levels; empty if it does not exist. */
function foldersAt(folder: string, depth: number): string[] {
  if (!existsSync(folder)) return []
  if (depth === 0) return [folder]
  const inside = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  return [folder, ...inside.flatMap((entry) => foldersAt(join(folder, entry.name), depth - 1))]
}

/**
 * Returns true if tests that need a redis-server are skipped, because there is none. In CI (`CI=true`) they are not
 * skipped, and fail. `test/redis.setup.ts` prints one line about it.
 */
export const skipsRedis = (env: Environment = process.env): boolean =>
  env['CI'] !== 'true' && findRedisServer(env) === undefined
