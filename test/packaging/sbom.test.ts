import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, inject, onTestFinished, test } from 'vitest'
import { root } from './packed.js'

interface Component {
  readonly 'bom-ref': string
  readonly name: string
  readonly purl: string
  readonly licenses: readonly object[]
}
interface Sbom {
  readonly bomFormat: string
  readonly metadata: { readonly component: Component }
  readonly components: readonly Component[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

const openFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'muster-sbom-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

/** Runs the script on a folder of tarballs. */
function sbomOf(tarballs: string): { readonly said: string; readonly text: () => string } {
  const file = join(openFolder(), 'sbom.json')
  const { stderr, status } = spawnSync('node', [join(root, 'scripts/sbom.mjs'), tarballs, file], { encoding: 'utf8' })
  return { said: status === 0 ? '' : stderr, text: () => readFileSync(file, 'utf8') }
}

test('the SBOM of the program has all installed and bundled packages, with allowed licences', () => {
  const { said, text } = sbomOf(inject('tarballs'))
  expect(said).toBe('')
  expect(text()).not.toContain('file:')
  const { bomFormat, metadata, components, dependencies } = JSON.parse(text()) as Sbom
  expect([bomFormat, metadata.component.name]).toEqual(['CycloneDX', '@muster/server'])
  const names = components.map(({ name }) => name)
  // One dependency of each kind: installed, installed for another platform, bundled in the program, and bundled in its
  // page.
  for (const name of ['@muster/core', 'zod', 'koffi', '@koromix/koffi-win32-arm64', 'pino', '@redis/client', 'preact'])
    expect(names).toContain(name)
  // Neither dependencies of other packages nor build and test tools may be listed.
  for (const name of ['create-muster', '@muster/emulator', 'esbuild', 'vitest']) expect(names).not.toContain(name)
  const refs = [metadata.component, ...components].map((one) => one['bom-ref'])
  expect(new Set(refs).size).toBe(refs.length)
  expect(dependencies.map(({ ref }) => ref).toSorted()).toEqual(refs.toSorted())
  expect(dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !refs.includes(ref))).toEqual([])
  for (const { purl } of components) expect(purl).toMatch(/^pkg:npm\/\S+@\d\S*$/)
})

/** Creates a folder with a program and one bundled library, with these licences. */
function withLicences(own: string, bundled: string): string {
  const folder = openFolder()
  mkdirSync(join(folder, 'package/dist/pages'), { recursive: true })
  const manifest = { name: '@muster/server', version: '1.0.0', license: own }
  writeFileSync(join(folder, 'package/package.json'), JSON.stringify(manifest))
  for (const path of ['dist', 'dist/pages'])
    writeFileSync(join(folder, 'package', path, 'licences.txt'), `library 2.0.0, ${bundled}\n\nIts text.\n`)
  execFileSync('tar', ['-czf', 'muster-server-1.0.0.tgz', 'package'], { cwd: folder })
  return folder
}

test.each([
  ['MIT', 'GPL-3.0-only', 'library@2.0.0'],
  ['MIT', 'MIT AND GPL-3.0-only', 'library@2.0.0'],
  ['MIT', 'MIT AND (BUSL-1.1 OR ISC)', 'library@2.0.0'],
  ['SSPL-1.0', 'MIT', '@muster/server@1.0.0'],
])('a licence that is not allowed is refused: %s with %s', (own, bundled, named) => {
  expect(sbomOf(withLicences(own, bundled)).said).toContain(`${named} has a licence that is not allowed`)
})

test('one allowed licence among several is enough', () => {
  expect(sbomOf(withLicences('Apache-2.0 AND BSL-1.0', '(MIT OR GPL-3.0-only)')).said).toBe('')
})
