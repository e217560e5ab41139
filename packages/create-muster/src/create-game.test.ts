import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { createGame } from './create-game.js'

const template = fileURLToPath(new URL('../template', import.meta.url))

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true })
})
function openFolder(): string {
  folders.push(mkdtempSync(join(tmpdir(), 'create-muster-')))
  return folders.at(-1) as string
}

/** Runs the command line in a folder, like a package manager of this name. */
async function run(folder: string, args: readonly string[], agent?: string) {
  const [said, complained]: [string[], string[]] = [[], []]
  const code = await createGame(args, {
    say: (text) => said.push(text),
    complain: (text) => complained.push(text),
    folder,
    env: agent === undefined ? {} : { npm_config_user_agent: agent },
  })
  return { code, said: said.join('\n'), complained: complained.join('\n') }
}

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name).slice(folder.length + 1)] : []))
    .toSorted()
const readIn = (folder: string) => (path: string) => readFileSync(join(folder, path), 'utf8')

describe('the files of a new game', () => {
  test('the files of a new game are those of the template with the name inserted, and .gitignore', async () => {
    const folder = openFolder()
    expect(await run(folder, ['tap-duel'])).toMatchObject({ code: 0, complained: '' })
    const game = join(folder, 'tap-duel')
    const wanted = filesIn(template).map((path) => (path === 'gitignore' ? '.gitignore' : path))
    expect(filesIn(game)).toEqual(wanted.toSorted())
    const read = readIn(game)
    for (const path of filesIn(game)) expect(read(path), path).not.toContain('my-game')
    for (const path of ['package.json', 'muster.yaml', 'service.js', 'README.md', 'public/index.html'])
      expect(read(path), path).toContain('tap-duel')
    expect(read('.gitignore')).toBe('node_modules/\n.env\n')
  })

  test('a new game depends on the packages of the same version as create-muster', async () => {
    const folder = openFolder()
    await run(folder, ['tap-duel'])
    const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
      version: string
    }
    const { name, dependencies, devDependencies } = JSON.parse(readIn(join(folder, 'tap-duel'))('package.json')) as {
      name: string
      dependencies: Record<string, string>
      devDependencies: Record<string, string>
    }
    expect(name).toBe('tap-duel')
    const ranges = Object.entries({ ...dependencies, ...devDependencies }).filter(([one]) => one.startsWith('@muster/'))
    expect(ranges.map(([one]) => one)).toEqual(expect.arrayContaining(['@muster/client', '@muster/game-server']))
    expect(new Set(ranges.map(([, range]) => range))).toEqual(new Set([`^${version}`]))
  })

  test('a new game can be written into an existing empty folder, even the current one', async () => {
    const folder = join(openFolder(), 'tap-duel')
    mkdirSync(folder)
    const { code, said } = await run(folder, ['.'])
    expect(code).toBe(0)
    expect(said).not.toContain('cd ')
    expect(JSON.parse(readIn(folder)('package.json'))).toMatchObject({ name: 'tap-duel' })
  })
})

test.runIf(process.platform === 'linux')(
  'a folder that cannot be created is refused, and the program ends',
  async () => {
    const folder = openFolder()
    symlinkSync(join(folder, 'nothing'), join(folder, 'tap-link'))
    expect(await run(folder, ['tap-link'])).toMatchObject({
      code: 1,
      complained: 'folder: must be empty or new, got "tap-link"',
    })
    expect(await run(folder, ['/proc/tap-duel'])).toMatchObject({
      code: 1,
      complained: expect.stringContaining('folder: "/proc/tap-duel" cannot be written: ENOENT') as string,
    })
  },
)

describe('the printed commands', () => {
  test.each([
    [undefined, 'npm'],
    ['npm/10.8.2 node/v20.20.2 linux x64 workspaces/false', 'npm'],
    ['pnpm/10.34.9 npm/? node/v20.20.2 linux x64', 'pnpm'],
    ['yarn/4.9.1 npm/? node/v20.20.2 linux x64', 'yarn'],
    ['bun/1.2.0 npm/? node/v22.6.0 linux x64', 'bun'],
    ['other/1.0', 'npm'],
  ])('create-muster prints commands for the package manager %s: %s', async (agent, manager) => {
    const { said } = await run(openFolder(), ['games/tap-duel'], agent)
    const commands = Array.from(said.matchAll(/^ {2}(.+)$/gm), ([, command]) => command)
    expect(commands).toEqual([`cd ${join('games', 'tap-duel')}`, `${manager} install`, `${manager} run dev`])
  })
})

test('create-muster prints commands that work as printed for a path with spaces', async () => {
  expect((await run(openFolder(), ['my games/tap-duel'])).said).toContain('  cd "my games/tap-duel"\n')
})

describe('a command that writes nothing', () => {
  test.each(['My Game', 'Duel', '1v1', 'ab', 'a_b', 'ä', 'a'.repeat(33), '@studio/duel!'])(
    'create-muster refuses the name %s and writes nothing',
    async (given) => {
      const folder = openFolder()
      const { code, complained } = await run(folder, [given])
      const name = given.split('/').at(-1)
      expect([code, complained]).toEqual([
        2,
        `name: must be 3 to 32 of a–z, 0–9 and -, beginning with a letter, got "${name}"`,
      ])
      expect(filesIn(folder)).toEqual([])
    },
  )

  test('create-muster refuses a folder that is not empty', async () => {
    const folder = openFolder()
    mkdirSync(join(folder, 'duel'))
    writeFileSync(join(folder, 'duel', 'notes.txt'), 'mine')
    expect(await run(folder, ['duel'])).toEqual({
      code: 1,
      said: '',
      complained: 'folder: must be empty or new, got "duel"',
    })
    expect(filesIn(folder)).toEqual(['duel/notes.txt'])
  })

  test('create-muster refuses a path where a file exists', async () => {
    const folder = openFolder()
    writeFileSync(join(folder, 'duel'), 'mine')
    expect(await run(folder, ['duel'])).toMatchObject({ code: 1, complained: expect.stringContaining('got "duel"') })
    expect(readIn(folder)('duel')).toBe('mine')
  })

  test.each([[[]], [['duel', 'other']], [['--force']]])(
    'create-muster prints the usage for the arguments %j and writes nothing',
    async (args) => {
      const folder = openFolder()
      const { code, complained } = await run(folder, args)
      expect([code, complained]).toEqual([2, expect.stringContaining('Usage: npm create muster <folder>')])
      expect(filesIn(folder)).toEqual([])
    },
  )

  test('create-muster prints the usage for --help, with exit code 0', async () => {
    expect(await run(openFolder(), ['--help'])).toMatchObject({ code: 0, complained: '' })
  })
})
