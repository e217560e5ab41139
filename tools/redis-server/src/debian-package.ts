/** Fetches Debian packages into a folder. This needs no root, installs nothing, and starts no service. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Maximum milliseconds of one command. Without a network, apt-get would try for minutes. */
const TIMEOUT_MS = 60_000

export interface DebianPackage {
  readonly name: string
  /** Matches the names of dependencies that are unpacked in the same folder, unless they are installed. */
  readonly beside: RegExp
  /** The folder into which the package is unpacked. An existing folder is replaced. */
  readonly folder: string
  /** Throws if the program that was unpacked into this folder does not run. */
  readonly try: (folder: string) => void
}

/**
 * Fetches a package of this system's archive, with its dependencies.
 * @throws {Error} whose message says why it could not be fetched
 */
export function fetchPackage(wanted: DebianPackage): void {
  try {
    unpackInto(wanted)
  } catch (error) {
    const { code, stderr } = error as { code?: string; stderr?: string }
    const why =
      code === 'ENOENT'
        ? 'apt-get and dpkg are needed for this, which this system does not have'
        : (stderr ?? String(error)).trim()
    throw new Error(why, { cause: error })
  }
}

function unpackInto(wanted: DebianPackage): void {
  const { folder } = wanted
  mkdirSync(dirname(folder), { recursive: true })
  const scratch = mkdtempSync(`${folder}-`)
  try {
    const unpacked = join(scratch, 'unpacked')
    mkdirSync(unpacked)
    for (const file of download(wanted, scratch)) run('dpkg', ['-x', file, unpacked], scratch)
    wanted.try(unpacked)
    rmSync(folder, { recursive: true, force: true })
    // The folder is renamed last, so that an interrupted run leaves no incomplete folder.
    renameSync(unpacked, folder)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** Downloads the package and those of its dependencies that are not installed. Returns the paths of the files. */
function download(wanted: DebianPackage, into: string): string[] {
  const packages = join(into, 'packages')
  mkdirSync(packages)
  const [options, names] = resolve(wanted, into)
  run('apt-get', [...options, 'download', ...names], packages)
  return readdirSync(packages).map((name) => join(packages, name))
}

/**
 * Returns the packages to download. If the system has no package lists, they are downloaded into a folder of this tool.
 */
function resolve(wanted: DebianPackage, into: string): [options: readonly string[], names: readonly string[]] {
  try {
    return [[], missing(wanted, [], into)]
  } catch {
    const lists = join(into, 'lists')
    mkdirSync(join(lists, 'partial'), { recursive: true })
    const options = ['-o', `Dir::State::lists=${lists}`, '-o', `Dir::Cache=${into}`]
    run('apt-get', [...options, '-qq', 'update'], into)
    return [options, missing(wanted, options, into)]
  }
}

function missing({ name, beside }: DebianPackage, options: readonly string[], folder: string): string[] {
  const plan = run('apt-get', [...options, '--simulate', '--no-install-recommends', 'install', name], folder)
  const names = Array.from(plan.matchAll(/^Inst (\S+)/gm), ([, one = '']) => one)
  if (!names.includes(name)) throw new Error(`apt-get offers no package ${name}`)
  // Dependencies that set up a service are omitted, because they are not needed.
  return names.filter((one) => one === name || beside.test(one))
}

function run(program: string, args: readonly string[], cwd: string): string {
  return execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: TIMEOUT_MS })
}
