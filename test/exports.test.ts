import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { exportedNames } from './imports/exported-names.js'

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * Maximum number of names that the public entry points of a package may export. Add a name only if a user needs it.
 * Names for our own packages, tests and benchmarks belong in `/internal`, which is not counted and gives no guarantees.
 */
const MOST: Readonly<Record<string, number>> = {
  client: 25,
  console: 1,
  core: 136,
  emulator: 31,
  'game-server': 17,
  kernel: 18,
  lab: 61,
  matchmaker: 185,
  redis: 34,
  relay: 58,
  server: 14,
  hosting: 27,
}
const MOST_IN_ALL = 607

type Exports = Readonly<Record<string, { readonly '@muster/source': string; readonly types?: string }>>

/** Returns the entry points of a package; none if it is only a program. */
function exportsOf(name: string): Exports {
  const manifest = readFileSync(join(root, 'packages', name, 'package.json'), 'utf8')
  return (JSON.parse(manifest) as { readonly exports?: Exports }).exports ?? {}
}

/** Returns the names that all published entry points export. `/internal` and test helpers are not published. */
function publicNamesOf(name: string): string[] {
  const folder = join(root, 'packages', name)
  return Object.entries(exportsOf(name)).flatMap(([subpath, { '@muster/source': path, types }]) =>
    subpath === './internal' || types === undefined
      ? []
      : exportedNames(path, readFileSync(join(folder, path), 'utf8')).map((one) => `${subpath} ${one}`),
  )
}

const packages = readdirSync(join(root, 'packages')).filter((name) => Object.keys(exportsOf(name)).length > 0)

test.each(packages)('@muster/%s exports no more names than listed for it', (name) => {
  const names = publicNamesOf(name)
  expect(names.length).toBeGreaterThan(0)
  expect(names.length).toBeLessThanOrEqual(MOST[name] ?? 0)
  expect(names).toEqual([...new Set(names)])
})

test('all packages together export at most 607 names', () => {
  expect(packages.flatMap(publicNamesOf).length).toBeLessThanOrEqual(MOST_IN_ALL)
})

test('exportedNames counts a name in every form of export', () => {
  const source = [
    "export { a, b as c, type D } from './a.js'",
    "export type { E } from './e.js'",
    'export const f = 1, g = 2',
    'export function h() {}',
    'export class I {}',
    'export interface J {}',
    'export type K = string',
    'const l = 1',
    'export { l }',
    'const m = 1',
  ]
  expect(exportedNames('x.ts', source.join('\n'))).toEqual(['a', 'c', 'D', 'E', 'f', 'g', 'h', 'I', 'J', 'K', 'l'])
})
