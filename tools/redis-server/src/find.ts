import { existsSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'

/** A redis-server that can be run, and the environment that it needs. */
export interface RedisBinary {
  readonly path: string
  readonly env: Readonly<Record<string, string>>
}

type Environment = Readonly<Record<string, string | undefined>>

/** What to tell a person on whose machine there is no redis-server. */
export const howToGetRedis = 'get one by `pnpm get:redis` (no root needed), install redis 7, or set MUSTER_REDIS_SERVER'

/** The folder in which `pnpm get:redis` keeps its redis-server, or another tool. All clones of a user share it. */
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

/** The command that starts it in a shell. */
export const commandOf = ({ path, env }: RedisBinary): string =>
  [...Object.entries(env).map(([name, value]) => `${name}=${value}`), path].join(' ')

/** The redis-server of Debian packages that are unpacked in a folder, with the libraries unpacked beside it. */
export function unpackedIn(folder: string): RedisBinary | undefined {
  const path = join(folder, 'usr/bin/redis-server')
  if (!existsSync(path)) return undefined
  return { path, env: { LD_LIBRARY_PATH: libraryFolders(folder).join(delimiter) } }
}

/** `usr/lib`, `lib`, and two levels of folders below, such as `usr/lib/x86_64-linux-gnu/pulseaudio`. */
export function libraryFolders(folder: string): string[] {
  return ['usr/lib', 'lib'].flatMap((name) => foldersAt(join(folder, name), 2))
}

/** A folder and those below it, `depth` levels deep, if it exists. */
function foldersAt(folder: string, depth: number): string[] {
  if (!existsSync(folder)) return []
  if (depth === 0) return [folder]
  const inside = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  return [folder, ...inside.flatMap((entry) => foldersAt(join(folder, entry.name), depth - 1))]
}

/**
 * Whether tests that need a redis-server are skipped: where there is none, except in CI (`CI=true`), where they fail.
 * `test/redis.setup.ts` says so in one line.
 */
export const skipsRedis = (env: Environment = process.env): boolean =>
  env['CI'] !== 'true' && findRedisServer(env) === undefined
