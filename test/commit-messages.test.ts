import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'

const script = fileURLToPath(new URL('../scripts/commit-check.mjs', import.meta.url))
let folder: string
let base: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'muster-commits-'))
  git('init', '--quiet', '--initial-branch=main')
  commit('First')
  base = git('rev-parse', 'HEAD')
})
afterEach(() => rmSync(folder, { recursive: true }))

function git(...args: readonly string[]): string {
  const options = ['user.name=A', 'user.email=a@example.com', 'commit.gpgsign=false', 'core.hooksPath=/dev/null']
  const flags = options.flatMap((option) => ['-c', option])
  return execFileSync('git', [...flags, ...args], { cwd: folder, encoding: 'utf8' }).trim()
}

function commit(message: string, lines = 1): void {
  writeFileSync(join(folder, 'file'), `${message}\n`.repeat(lines))
  git('add', '--all')
  git('commit', '--quiet', '--cleanup=verbatim', '--message', message)
}

/** Runs the check. Returns its output and whether it passed. */
function check(...args: readonly string[]): { passes: boolean; output: string } {
  try {
    const output = execFileSync(process.execPath, [script, ...args], { cwd: folder, encoding: 'utf8', stdio: 'pipe' })
    return { passes: true, output }
  } catch (error) {
    return { passes: false, output: (error as { stderr: string }).stderr }
  }
}

test('a commit subject of 72 characters passes, and one of 73 fails', () => {
  commit('x'.repeat(72))
  expect(check(base)).toEqual({ passes: true, output: '' })
  commit('x'.repeat(73))
  expect(check(base)).toMatchObject({ passes: false, output: expect.stringContaining('has 73 characters; at most 72') })
})

test('a commit that changes more than 500 lines needs a body', () => {
  commit('Small', 400)
  commit('Large, with its reason\n\nThe reason.', 600)
  expect(check(base)).toEqual({ passes: true, output: '' })
  commit('Large', 600)
  const { passes, output } = check(base)
  expect(passes).toBe(false)
  expect(output).toMatch(/ Large\n {2}It changes \d+ lines, and no body below the subject says why\.\n$/)
})

test('the line below a commit subject must be empty', () => {
  commit('Subject\nand more of it')
  expect(check(base)).toMatchObject({
    passes: false,
    output: expect.stringContaining('below the subject is not empty'),
  })
})

test('commits up to the base are not checked by the commit check', () => {
  commit('x'.repeat(100))
  expect(check(git('rev-parse', 'HEAD'))).toEqual({ passes: true, output: '' })
})

test('in a clone without the base, the commit check covers the latest commit', () => {
  commit('x'.repeat(100))
  commit('Short')
  expect(check()).toMatchObject({ passes: true, output: expect.stringContaining('only the latest commit is checked') })
  commit('x'.repeat(100))
  expect(check().passes).toBe(false)
})

test('in a folder that is not a clone, the commit check passes with a message', () => {
  rmSync(join(folder, '.git'), { recursive: true })
  expect(check()).toMatchObject({ passes: true, output: expect.stringContaining('no commit message is checked') })
})
