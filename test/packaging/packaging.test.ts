import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { complaintsOf, type Packed, root, targetsOf, unpack } from './packed.js'

const names = readdirSync(join(root, 'packages'))
/** Files of a package that are no code. */
const furtherFiles: Readonly<Record<string, RegExp>> = {
  console: /^(dist\/pages\/[\w.-]+|src\/app\/[\w/-]+\.(html|css|svg))$/,
  server: /^(muster\.schema\.json|dist\/licences\.txt|dist\/pages\/[\w.-]+)$/,
}
const into = mkdtempSync(join(tmpdir(), 'muster-packages-'))
afterAll(() => rmSync(into, { recursive: true }))

describe.each(names)('@muster/%s', (name) => {
  let packed: Packed
  beforeAll(async () => {
    packed = await unpack(name, inject('tarballs'), into)
  })

  test('has all its files', () => {
    expect(packed.manifest.name).toBe(`@muster/${name}`)
    expect(packed.files).toEqual(
      expect.arrayContaining([
        'package.json',
        'README.md',
        'LICENSE',
        'dist/index.js',
        'dist/index.d.ts',
        'src/index.ts',
      ]),
    )
  })

  test('has no tests, fixtures, build records or outdated files', () => {
    const allowed = /^(package\.json|README\.md|LICENSE|dist\/.*\.(js|d\.ts)(\.map)?|src\/.*\.tsx?)$/
    const further = furtherFiles[name] ?? /^$/
    expect(packed.files.filter((file) => !allowed.test(file) && !further.test(file))).toEqual([])
    expect(packed.files.filter((file) => /\.(test|test-d|fixture)\./.test(file))).toEqual([])
    // The program is bundled: its files are not those of its sources.
    const built = packed.files.filter((file) => name !== 'server' && /^dist\/(?!pages\/).*\.js$/.test(file))
    const sourcesOf = (file: string) =>
      ['.ts', '.tsx'].map((ending) => file.replace(/^dist\//, 'src/').replace(/\.js$/, ending))
    expect(built.filter((file) => !sourcesOf(file).some((source) => packed.files.includes(source)))).toEqual([])
  })

  test('refers only to built files and runnable programs', async () => {
    expect(JSON.stringify(packed.manifest.exports)).not.toContain('@muster/source')
    const targets = [...targetsOf(packed.manifest.exports), ...Object.values(packed.manifest.bin ?? {})].map((target) =>
      target.replace('./', ''),
    )
    expect(targets.filter((target) => !packed.files.includes(target))).toEqual([])
    for (const program of Object.values(packed.manifest.bin ?? {})) {
      expect(await readFile(join(packed.folder, program), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/)
    }
    expect(Object.values(packed.manifest.dependencies ?? {}).filter((range) => range.startsWith('workspace:'))).toEqual(
      [],
    )
  })

  test('has entry points that load', async () => {
    for (const targets of Object.values(packed.manifest.exports)) {
      const file = targetsOf(targets).find((target) => target.endsWith('.js')) as string
      const module = (await import(/* @vite-ignore */ pathToFileURL(join(packed.folder, file)).href)) as object
      expect(Object.keys(module), file).not.toEqual([])
    }
  })

  test('passes publint', async () => {
    await expect(complaintsOf('publint', 'run', packed.tarball, '--strict')).resolves.toBe('')
  })

  test('passes arethetypeswrong', async () => {
    await expect(complaintsOf('attw', packed.tarball, '--profile', 'esm-only')).resolves.toBe('')
  })
})
