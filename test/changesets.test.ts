import { execFile, execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'muster-changesets-'))
  git('init', '--quiet', '--initial-branch=main')
})
afterEach(() => rmSync(folder, { recursive: true }))

const git = (...args: readonly string[]) => {
  const options = ['user.name=A', 'user.email=a@example.com', 'commit.gpgsign=false', 'core.hooksPath=/dev/null']
  const flags = options.flatMap((option) => ['-c', option])
  return execFileSync('git', [...flags, ...args], { cwd: folder, encoding: 'utf8' }).trim()
}
const write = (path: string, text: string) => {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}
const commit = (files: Readonly<Record<string, string>>) => {
  for (const [path, text] of Object.entries(files)) write(path, text)
  git('add', '--all')
  git('commit', '--quiet', '--message', 'x')
}
const runScript = (path: string, ...args: readonly string[]) =>
  new Promise<{ readonly code: number; readonly output: string }>((resolve) => {
    execFile(process.execPath, [join(root, path), ...args], { cwd: folder }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
    )
  })

describe('the changeset check of a change that users notice', () => {
  const check = (...args: readonly string[]) => runScript('scripts/changeset-check.mjs', ...args)
  const passed = { code: 0, output: '' }
  const source = 'packages/core/src/index.ts'
  const told = { '.changeset/brave-cats-sing.md': "---\n'@muster/core': minor\n---\n\nIt sings.\n" }

  beforeEach(() => commit({ [source]: '1', 'api/core.api.md': '1', '.changeset/README.md': 'how' }))

  test('the changeset check requires no changeset before the first release', async () => {
    commit({ [source]: '2' })
    expect(await check()).toEqual(passed)
  })

  test.each([source, 'api/core.api.md', 'packages/client/src/new.ts'])(
    'the changeset check fails without a changeset: %s',
    async (path) => {
      git('tag', 'v0.1.0')
      expect(await check()).toEqual(passed)
      commit({ [path]: '2', '.changeset/README.md': 'how else' })
      const failed = await check()
      expect(failed.code).toBe(1)
      expect(failed.output).toContain(`No changeset since v0.1.0 tells users of a change in ${path}: write one with`)
      commit(told)
      expect(await check()).toEqual(passed)
    },
  )

  test('the changeset check ignores changes of tests, documents and tools', async () => {
    git('tag', 'v0.1.0')
    commit({ 'packages/core/src/x.test.ts': '1', 'packages/core/src/x.fixture.ts': '1', 'docs/x.md': '1' })
    expect(await check()).toEqual(passed)
  })

  test('the changeset check accepts the changelog of a release whose tag does not exist yet', async () => {
    git('tag', 'v0.1.0')
    commit({ [source]: '2', ...told })
    rmSync(join(folder, '.changeset/brave-cats-sing.md'))
    commit({ 'packages/core/CHANGELOG.md': '## 0.2.0' })
    expect(await check()).toEqual(passed)
  })

  test('the changeset check fails if the changeset is older than the base, or is removed', async () => {
    commit(told)
    const base = git('rev-parse', 'HEAD')
    commit({ [source]: '2' })
    expect(await check(base)).toMatchObject({ code: 1 })
    rmSync(join(folder, '.changeset/brave-cats-sing.md'))
    commit({ [source]: '3' })
    expect(await check(base)).toMatchObject({ code: 1 })
  })
})

test('a release has one version for all public packages, and a changelog in each', async () => {
  const foldersIn = (parent: string) => readdirSync(join(root, parent)).map((name) => `${parent}/${name}`)
  const published = foldersIn('packages')
  const others = [...foldersIn('tools'), 'examples', 'test', 'bench', '.']
  const manifests = [...published, ...others].map((path) => join(path, 'package.json'))
  for (const path of [...manifests, 'pnpm-workspace.yaml', 'pnpm-lock.yaml', '.changeset/config.json'])
    cpSync(join(root, path), join(folder, path))
  commit({ '.changeset/brave-cats-sing.md': "---\n'@muster/core': minor\n---\n\nIt sings.\n" })
  const versionsOf = (paths: readonly string[]) =>
    paths.map((path) => {
      const manifest = readFileSync(join(folder, path, 'package.json'), 'utf8')
      return (JSON.parse(manifest) as { readonly version: string }).version
    })
  const [before, othersBefore] = [versionsOf(published), versionsOf(others)]

  expect(await runScript('node_modules/@changesets/cli/bin.js', 'version')).toMatchObject({ code: 0 })
  const [version = ''] = versionsOf(published)
  expect(version).toMatch(/^\d+\.\d+\.0$/)
  expect(before).not.toContain(version)
  expect(new Set(versionsOf(published)).size).toBe(1)
  expect(versionsOf(others)).toEqual(othersBefore)
  for (const path of published) expect(existsSync(join(folder, path, 'CHANGELOG.md')), path).toBe(true)
  expect(readFileSync(join(folder, 'packages/core/CHANGELOG.md'), 'utf8')).toMatch(/^- \w+: It sings\.$/m)
})
