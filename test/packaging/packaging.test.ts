import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type Manifest, type Packed, publishedName, root, targetsOf, unpack } from './packed.js'

const names = readdirSync(join(root, 'packages'))
/** Files of a package besides its code. */
const furtherFiles: Readonly<Record<string, RegExp>> = {
  client: /^dist\/muster\.global\.js(\.map)?$/,
  console: /^(dist\/pages\/[\w.-]+|src\/app\/[\w/-]+\.(html|css|svg))$/,
  'create-muster': /^template\/[\w./-]+$/,
  server: /^(muster\.schema\.json|dist\/licences\.txt|dist\/pages\/[\w.-]+)$/,
}
const into = mkdtempSync(join(tmpdir(), 'muster-packages-'))
afterAll(() => rmSync(into, { recursive: true }))

/** Returns the entry points that code can import. A program has none. A browser script has no exports and no types. */
const modulesOf = ({ exports = {} }: Manifest) =>
  Object.entries(exports).filter(([, targets]) => typeof targets !== 'string')

/** Reads a tarball into memory of its own, which publint needs. */
const readTarball = async (path: string): Promise<ArrayBuffer> => new Uint8Array(await readFile(path)).buffer

describe.each(names)('the package @muster/%s', (name) => {
  let packed: Packed
  beforeAll(async () => {
    packed = await unpack(name, inject('tarballs'), into)
  })

  test('the packed package contains all its files', () => {
    expect(packed.manifest.name).toBe(publishedName(name))
    const code = packed.manifest.exports === undefined ? 'main' : 'index'
    const modules = [`dist/${code}.js`, `dist/${code}.d.ts`, `src/${code}.ts`]
    expect(packed.files).toEqual(expect.arrayContaining(['package.json', 'README.md', 'LICENSE', ...modules]))
  })

  test('the packed package contains no tests, fixtures, build records or outdated files', () => {
    const allowed = /^(package\.json|README\.md|LICENSE|dist\/.*\.(js|d\.ts)(\.map)?|src\/.*\.tsx?)$/
    const further = furtherFiles[name] ?? /^$/
    const own = packed.files.filter((file) => !further.test(file))
    expect(own.filter((file) => !allowed.test(file))).toEqual([])
    expect(own.filter((file) => /\.(test|test-d|fixture)\./.test(file))).toEqual([])
    // The program is bundled, so its files differ from its sources.
    const built = own.filter((file) => name !== 'server' && /^dist\/.*\.js$/.test(file))
    const sourcesOf = (file: string) =>
      ['.ts', '.tsx'].map((ending) => file.replace(/^dist\//, 'src/').replace(/\.js$/, ending))
    expect(built.filter((file) => !sourcesOf(file).some((source) => packed.files.includes(source)))).toEqual([])
  })

  test('the packed package refers only to built files and runnable programs', async () => {
    const { exports = {} } = packed.manifest
    expect(JSON.stringify(exports)).not.toContain('@muster/source')
    const targets = [...targetsOf(exports), ...Object.values(packed.manifest.bin ?? {})].map((target) =>
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

  test('the packed package has entry points that load', async () => {
    for (const [, targets] of modulesOf(packed.manifest)) {
      const file = targetsOf(targets).find((target) => target.endsWith('.js')) as string
      const module = (await import(/* @vite-ignore */ pathToFileURL(join(packed.folder, file)).href)) as object
      expect(Object.keys(module), file).not.toEqual([])
    }
  })

  test('the packed package passes publint', async () => {
    const { messages } = await publint({ pack: { tarball: await readTarball(packed.tarball) }, strict: true })
    expect(messages.map((message) => formatMessage(message, packed.manifest))).toEqual([])
  })

  test('the packed package passes arethetypeswrong', async () => {
    const entrypoints = modulesOf(packed.manifest).map(([subpath]) => subpath)
    if (entrypoints.length === 0) return
    const tarball = createPackageFromTarballData(new Uint8Array(await readTarball(packed.tarball)))
    const analysis = await checkPackage(tarball, { entrypoints })
    // Packages that are ESM only need not work for older resolutions. This is the profile `esm-only` of attw.
    const problems =
      analysis.types === false
        ? ['no types']
        : analysis.problems.filter(
            (problem) => !('resolutionKind' in problem && ['node10', 'node16-cjs'].includes(problem.resolutionKind)),
          )
    expect(problems).toEqual([])
  })
})
