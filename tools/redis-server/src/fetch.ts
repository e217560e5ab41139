import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { cacheFolder, commandOf, findRedisServer, type RedisBinary, unpackedIn } from './find.js'

/** Milliseconds for which one command may take: without a network, apt-get tries for minutes. */
const TIMEOUT_MS = 60_000

/**
 * Fetches the redis-server of this system's package archive into the user's cache folder. Needs no root, installs
 * nothing, and starts no service. Blocks for some five seconds.
 * @returns its version, and the command that starts it
 * @throws {Error} whose message says why none could be fetched
 */
export function fetchRedisServer(): string {
  const found = findRedisServer()
  if (found !== undefined) return sayHowToStart(found)
  try {
    return fetchIntoCache()
  } catch (error) {
    const { code, stderr } = error as { code?: string; stderr?: string }
    const why =
      code === 'ENOENT'
        ? 'apt-get and dpkg are needed for this, which this system does not have'
        : (stderr ?? String(error)).trim()
    throw new Error(why, { cause: error })
  }
}

function fetchIntoCache(): string {
  const folder = cacheFolder()
  mkdirSync(dirname(folder), { recursive: true })
  const scratch = mkdtempSync(`${folder}-`)
  try {
    const unpacked = join(scratch, 'unpacked')
    mkdirSync(unpacked)
    for (const file of download(scratch)) run('dpkg', ['-x', file, unpacked], scratch)
    const binary = unpackedIn(unpacked)
    if (binary === undefined) throw new Error('the package redis-server holds no usr/bin/redis-server')
    versionOf(binary) // throws if it does not run
    rmSync(folder, { recursive: true, force: true })
    // The last step, so that an interrupted run leaves nothing half done.
    renameSync(unpacked, folder)
    return sayHowToStart(unpackedIn(folder) ?? binary)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** Downloads redis-server and what it depends on that is not installed. Returns the paths of the packages. */
function download(into: string): string[] {
  const packages = join(into, 'packages')
  mkdirSync(packages)
  const [options, names] = resolve(into)
  run('apt-get', [...options, 'download', ...names], packages)
  return readdirSync(packages).map((name) => join(packages, name))
}

/** The packages to download; with lists of packages in a folder of our own where the system has none. */
function resolve(into: string): [options: readonly string[], names: readonly string[]] {
  try {
    return [[], missing([], into)]
  } catch {
    const lists = join(into, 'lists')
    mkdirSync(join(lists, 'partial'), { recursive: true })
    const options = ['-o', `Dir::State::lists=${lists}`, '-o', `Dir::Cache=${into}`]
    run('apt-get', [...options, '-qq', 'update'], into)
    return [options, missing(options, into)]
  }
}

function missing(options: readonly string[], folder: string): string[] {
  const plan = run('apt-get', [...options, '--simulate', '--no-install-recommends', 'install', 'redis-server'], folder)
  const names = Array.from(plan.matchAll(/^Inst (\S+)/gm), ([, name = '']) => name)
  if (!names.includes('redis-server')) throw new Error('apt-get offers no package redis-server')
  // Those that set up a service are of no use here.
  return names.filter((name) => /^(?:redis|lib|lua)/.test(name))
}

const sayHowToStart = (binary: RedisBinary): string =>
  `redis-server ${versionOf(binary)}. Start it by:\n${commandOf(binary)}`

const versionOf = ({ path, env }: RedisBinary): string => {
  const text = execFileSync(path, ['--version'], { encoding: 'utf8', env: { ...process.env, ...env } })
  return /v=(\S+)/.exec(text)?.[1] ?? text.trim()
}

function run(program: string, args: readonly string[], cwd: string): string {
  return execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: TIMEOUT_MS })
}
