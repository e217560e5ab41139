import { chmodSync, closeSync, fstatSync, openSync, readFileSync, writeSync } from 'node:fs'
import type * as Files from 'node:fs/promises'
import { type FileHandle, lstat, mkdir, open, readdir, readFile, stat, symlink } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { inFolder } from './in-folder.fixture.js'
import { assertOutputs, writeText } from './output-file.js'
import type { Terminal } from './terminal.js'

const disk = vi.hoisted(() => ({ renameFails: undefined as string | undefined }))
vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof Files>()
  const rename: typeof real.rename = async (from, to) => {
    if (disk.renameFails !== undefined) throw Object.assign(new Error('no rename'), { code: disk.renameFails })
    return real.rename(from, to)
  }
  return { ...real, rename }
})

const { path, file, read, run, shown } = inFolder()

const write = (name: string, text: string) =>
  shown(async (terminal: Terminal) => {
    await writeText(name, terminal, text)
    return 0
  })

test.each(['a file', 'no file yet'])('an output that is a symbolic link to %s is written there', async (target) => {
  if (target === 'a file') await file('elsewhere/real.txt', 'old')
  else await mkdir(path('elsewhere'))
  await symlink('elsewhere/real.txt', path('link'))
  await symlink('link', path('link to the link'))
  await write('link to the link', 'new')
  expect(await read('elsewhere/real.txt')).toBe('new')
  expect((await lstat(path('link'))).isSymbolicLink()).toBe(true)
  expect(await readdir(path('elsewhere'))).toEqual(['real.txt'])
})

test.runIf(process.platform === 'linux')(
  'an output that is an open descriptor, such as /dev/stdout of a redirected command, is written to its file',
  async () => {
    const redirected = openSync(path('redirected'), 'w')
    try {
      writeSync(redirected, 'before ')
      await symlink(`/proc/self/fd/${redirected}`, path('stdout'))
      await write('stdout', 'output')
      await write(`/dev/fd/${redirected}`, ' again')
      writeSync(redirected, ' after')
      expect(fstatSync(redirected).nlink).toBe(1)
    } finally {
      closeSync(redirected)
    }
    expect(readFileSync(path('redirected'), 'utf8')).toBe('before output again after')
    expect((await lstat(path('stdout'))).isSymbolicLink()).toBe(true)
  },
)

test.runIf(process.platform !== 'win32')('a replaced output keeps its mode', async () => {
  await file('players.ndjson', 'old')
  chmodSync(path('players.ndjson'), 0o600)
  await write('players.ndjson', 'new')
  expect((await stat(path('players.ndjson'))).mode & 0o777).toBe(0o600)
})

test.each(['EBUSY', 'EXDEV'])(
  'an output that cannot be replaced (%s), such as a mounted file, is overwritten',
  async (code) => {
    await file('mounted.txt', 'old and longer')
    disk.renameFails = code
    try {
      await write('mounted.txt', 'new')
    } finally {
      disk.renameFails = undefined
    }
    expect(await readFile(path('mounted.txt'), 'utf8')).toBe('new')
    expect(await readdir(path())).toEqual(['mounted.txt'])
  },
)

test.runIf(process.platform === 'linux')('the error of a full disk names the output', async () => {
  await expect(write('/dev/full', 'text')).rejects.toThrow('/dev/full cannot be written (ENOSPC)')
})

test('an output that links to an input of the command, or to another output, is refused', async () => {
  await file('input.txt', '')
  await symlink('input.txt', path('link'))
  const check = (outputs: Readonly<Record<string, string>>) =>
    shown(async (terminal) => {
      await assertOutputs(outputs, ['input.txt'], terminal)
      return 0
    })
  await expect(check({ '--html': 'link' })).rejects.toThrow('--html: link is a file that the command reads, too')
  await symlink('new.txt', path('other'))
  await expect(check({ '--html': 'new.txt', '--json': 'other' })).rejects.toThrow('that --html writes, too')
})

describe('on a full disk', () => {
  beforeEach(async () => {
    await file('any.txt', '')
    const handle = await open(path('any.txt'))
    await handle.close()
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
    vi.spyOn(Object.getPrototypeOf(handle) as FileHandle, 'writeFile').mockRejectedValue(full)
  })
  afterEach(() => void vi.restoreAllMocks())

  const commands = [['init'], ['import', 'flexmatch', 'rules.json']]
  const RULES = JSON.stringify({
    name: 'duel',
    ruleLanguageVersion: '1.0',
    teams: [{ name: 'all', minPlayers: 2, maxPlayers: 2 }],
  })
  const FULL = { code: 1, err: expect.stringContaining('muster.yaml cannot be written (ENOSPC)') as string }

  test.each(commands)('muster %s leaves no part of a new file', async (...args) => {
    await file('rules.json', RULES)
    expect(await run(args)).toMatchObject(FULL)
    expect(await readdir(path())).toEqual(['any.txt', 'rules.json'])
  })

  test.each(commands)('muster %s --force leaves an existing file unchanged', async (...args) => {
    await file('rules.json', RULES)
    await file('muster.yaml', 'old')
    expect(await run([...args, '--force'])).toMatchObject(FULL)
    expect(await read('muster.yaml')).toBe('old')
    expect(await readdir(path())).toEqual(['any.txt', 'muster.yaml', 'rules.json'])
  })
})
