import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const text = readFileSync(join(root, 'docs/ARCHITECTURE.md'), 'utf8')
const section = (title: string) =>
  new RegExp(`^## ${title}\n([\\s\\S]*?)(?=^## |(?![\\s\\S]))`, 'm').exec(text)?.[1] ?? ''

test('the files that the architecture names exist, for twenty behaviours and more', () => {
  const files = Array.from(section('Where a behaviour lives').matchAll(/\| `([^`]+)` \|$/gm), ([, file = '']) => file)
  expect(files.length).toBeGreaterThanOrEqual(20)
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([])
})

test('the architecture describes every package and every room of the matchmaker and the program', () => {
  const house = section('The house')
  const folders = (path: string) =>
    readdirSync(join(root, path), { withFileTypes: true }).flatMap((one) => (one.isDirectory() ? [one.name] : []))
  expect(folders('packages').filter((name) => !house.includes(`\`packages/${name}\``))).toEqual([])
  for (const path of ['packages/matchmaker/src', 'packages/server/src'])
    expect(folders(path).filter((name) => !house.includes(`\`${name}\``))).toEqual([])
})

test('the paths in the architecture exist below packages', () => {
  const paths = Array.from(
    section('The main paths').matchAll(/\(`((?:core|servers|matchmaker|relay|redis|emulator)\/[^`]+)`\)/g),
    ([, path = '']) => path,
  )
  expect(paths.length).toBeGreaterThan(5)
  expect(paths.filter((path) => !existsSync(join(root, 'packages', path)))).toEqual([])
})
