import { readFileSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Where the command writes, and what its surroundings tell it. */
export interface Terminal {
  /** Writes lines of the result. */
  say(text: string): void
  /** Writes lines about what is wrong. */
  complain(text: string): void
  /** The folder that relative paths begin at. */
  readonly folder: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** How the command ends: 1, the folder cannot be used; 2, the command line is wrong. Nothing was written then. */
type ExitCode = 0 | 1 | 2

/** The game as it lies in this package. It runs as it is, under the name by which it is called there. */
const TEMPLATE = fileURLToPath(new URL('../template', import.meta.url))
const TEMPLATE_NAME = 'my-game'

/** Names the package, the application at the deployment service, and the tag of its servers, which has 32 at most. */
const NAME = /^[a-z][a-z0-9-]{0,31}$/

const USAGE = `Usage: npm create muster <folder>

Makes a game with matchmaking in a new folder: a game server, a page, muster.yaml, tests. The game has the name of the
folder.`

/** The version of this package, and of the packages that the game depends on. */
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  readonly version: string
}

/**
 * Runs the command line.
 * @param args without the program's own name
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
    const form = '1 to 32 of a–z, 0–9 and -, beginning with a letter'
    terminal.complain(`name: must be ${form}, got ${JSON.stringify(name)}`)
    return 2
  }
  if (!(await isFree(folder))) {
    terminal.complain(`folder: must be empty or new, got ${JSON.stringify(given)}`)
    return 1
  }
  await writeGame(folder, name)
  terminal.say(nextSteps(relative(terminal.folder, folder), name, terminal.env))
  return 0
}

/** Whether nothing is there yet that could be written over. */
async function isFree(folder: string): Promise<boolean> {
  try {
    return (await readdir(folder)).length === 0
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOTDIR') return false
    if (code === 'ENOENT') return true
    throw error
  }
}

async function writeGame(folder: string, name: string): Promise<void> {
  for (const entry of await readdir(TEMPLATE, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const from = join(entry.parentPath, entry.name)
    const text = (await readFile(from, 'utf8')).replaceAll(TEMPLATE_NAME, name)
    // npm packs no file of the name .gitignore.
    const path = relative(TEMPLATE, from).replace(/^gitignore$/, '.gitignore')
    const into = join(folder, path)
    await mkdir(dirname(into), { recursive: true })
    await writeFile(into, path === 'package.json' ? withVersions(text) : text, { flag: 'wx' })
  }
}

/** The template says * for the packages of Muster: they are those of this package's version. */
const withVersions = (manifest: string) => manifest.replaceAll(/("@muster\/[\w-]+": )"\*"/g, `$1"^${version}"`)

/** Commands of whoever has started this: `npm create` and the like say who they are in a variable. */
function nextSteps(path: string, name: string, env: Terminal['env']): string {
  const [, manager = 'npm'] = /^(npm|pnpm|yarn|bun)\//.exec(env['npm_config_user_agent'] ?? '') ?? []
  const commands = [...(path === '' ? [] : [`cd ${path}`]), `${manager} install`, `${manager} run dev`]
  return ['', `${name} is made. Next:`, '', ...commands.map((command) => `  ${command}`), ''].join('\n')
}
