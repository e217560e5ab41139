/** Fetches Debian packages into a folder: no root, nothing installed, no service started. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Milliseconds for which one command may take: without a network, apt-get tries for minutes. */
const TIMEOUT_MS = 60_000

export interface DebianPackage {
  readonly name: string
  /** Which of the packages that it needs, and that are not installed, are unpacked beside it. */
  readonly beside: RegExp
  /** Where it is unpacked: a folder that is replaced. */
  readonly folder: string
  /** Throws if what was unpacked into this folder does not run. */
  readonly try: (folder: string) => void
}

/**
 * Fetches a package of this system's archive, and what it needs.
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
    // The last step, so that an interrupted run leaves nothing half done.
    renameSync(unpacked, folder)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** Downloads the package and what it depends on that is not installed. Returns the paths of the packages. */
function download(wanted: DebianPackage, into: string): string[] {
  const packages = join(into, 'packages')
  mkdirSync(packages)
  const [options, names] = resolve(wanted, into)
  run('apt-get', [...options, 'download', ...names], packages)
  return readdirSync(packages).map((name) => join(packages, name))
}

/** The packages to download; with lists of packages in a folder of our own where the system has none. */
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
  // Those that set up a service are of no use here.
  return names.filter((one) => one === name || beside.test(one))
}

function run(program: string, args: readonly string[], cwd: string): string {
  return execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: TIMEOUT_MS })
}
