import { existsSync, readFileSync } from 'node:fs'
import { lstat, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The output and the environment of the command. */
export interface Terminal {
  /** Writes lines of the result. */
  say(text: string): void
  /** Writes lines about errors. */
  complain(text: string): void
  /** The base folder of relative paths. */
  readonly folder: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** The exit code. 1: the folder cannot be used. 2: the command line is invalid. Nothing was written in either case. */
type ExitCode = 0 | 1 | 2

/** The template of a game, in this package. It also runs unchanged, under the name `TEMPLATE_NAME`. */
const TEMPLATE = fileURLToPath(new URL('../template', import.meta.url))
const TEMPLATE_NAME = 'my-game'

/**
 * Matches a valid name. The name is that of the package, of the application at the deployment service, and of the
 * servers' tag, which has at most 32 characters. The service wants at least 3 characters.
 */
const NAME = /^[a-z][a-z0-9-]{2,31}$/

const USAGE = `Usage: npm create muster <folder>

Makes a game with matchmaking in a new folder: a game server, a page, muster.yaml, tests. The game has the name of the
folder.`

/** The version of this package. The packages that the game depends on have the same version. */
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  readonly version: string
}

/**
 * Creates a game in the folder that the command line names.
 * @param args without the program's name
 */
export async function createGame(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const [given, ...others] = args
  if (given === '--help' || given === '-h') {
    terminal.say(USAGE)
    return 0
  }
  if (given === undefined || given.startsWith('-') || others.length > 0) {
    terminal.complain(USAGE)
    return 2
  }
  const folder = resolve(terminal.folder, given)
  const name = basename(folder)
  if (!NAME.test(name)) {
    const form = '3 to 32 of a–z, 0–9 and -, beginning with a letter'
    terminal.complain(`name: must be ${form}, got ${JSON.stringify(name)}`)
    return 2
  }
  if (!(await isFree(folder))) {
    terminal.complain(`folder: must be empty or new, got ${JSON.stringify(given)}`)
    return 1
  }
  try {
    await writeGame(folder, name)
  } catch (error) {
    terminal.complain(`folder: ${JSON.stringify(given)} cannot be written: ${(error as Error).message}`)
    return 1
  }
  const path = relative(terminal.folder, folder)
  terminal.say(nextSteps(path.startsWith('..') ? folder : path, name, terminal.env))
  return 0
}

/**
 * Returns true if the folder is empty or missing, so that no file would be overwritten. A folder that cannot be read,
 * and a link to nothing, are not free.
 */
async function isFree(folder: string): Promise<boolean> {
  try {
    return (await readdir(folder)).length === 0
  } catch {
    return lstat(folder).then(
      () => false,
      ({ code }: NodeJS.ErrnoException) => code === 'ENOENT',
    )
  }
}

/**
 * Creates a folder, and the folders around it. `mkdir` with `recursive` never ends where nobody can create a folder,
 * e.g. below /proc.
 */
async function makeFolder(folder: string): Promise<void> {
  if (existsSync(folder)) return
  await makeFolder(dirname(folder))
  await mkdir(folder)
}

async function writeGame(folder: string, name: string): Promise<void> {
  for (const entry of await readdir(TEMPLATE, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const from = join(entry.parentPath, entry.name)
    const text = (await readFile(from, 'utf8')).replaceAll(TEMPLATE_NAME, name)
    // The template has the file as `gitignore`, because npm excludes files named .gitignore from packages.
    const path = relative(TEMPLATE, from).replace(/^gitignore$/, '.gitignore')
    const into = join(folder, path)
    await makeFolder(dirname(into))
    await writeFile(into, path === 'package.json' ? withVersions(text) : text, { flag: 'wx' })
  }
}

/** Returns a path as one word of a command line. */
const shellWord = (path: string) => (/[^\p{L}\p{N}_./\\:@%+,-]/u.test(path) ? JSON.stringify(path) : path)

/** Replaces `*` in the versions of Muster's packages by the version of this package. */
const withVersions = (manifest: string) => manifest.replaceAll(/("@muster\/[\w-]+": )"\*"/g, `$1"^${version}"`)

/**
 * Returns the next commands, for the package manager that runs this program. `npm create` and others set a variable
 * with their name.
 */
function nextSteps(path: string, name: string, env: Terminal['env']): string {
  const [, manager = 'npm'] = /^(npm|pnpm|yarn|bun)\//.exec(env['npm_config_user_agent'] ?? '') ?? []
  const commands = [...(path === '' ? [] : [`cd ${shellWord(path)}`]), `${manager} install`, `${manager} run dev`]
  return ['', `${name} is made. Next:`, '', ...commands.map((command) => `  ${command}`), ''].join('\n')
}
