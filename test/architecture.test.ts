import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const text = readFileSync(join(root, 'docs/ARCHITECTURE.md'), 'utf8')
const section = (title: string) =>
  new RegExp(`^## ${title}\n([\\s\\S]*?)(?=^## |(?![\\s\\S]))`, 'm').exec(text)?.[1] ?? ''
const quotedIn = (part: string) =>
  Array.from(part.replaceAll(/```[\s\S]*?```/g, '').matchAll(/`([^`]+)`/g), ([, quoted = '']) => quoted)

test('docs/ARCHITECTURE.md has at most 150 lines, with diagrams of packages, a ticket and a server', () => {
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(150)
  for (const title of ['Packages', "A ticket's way", "A server's way"]) expect(section(title)).toContain('```mermaid')
})

test('docs/ARCHITECTURE.md names existing files for at least twenty behaviours', () => {
  const rows = Array.from(section('Where to look').matchAll(/^\| .+ \| (`.+`) \|$/gm), ([, files = '']) => files)
  expect(rows.length).toBeGreaterThanOrEqual(20)
  expect(rows.length).toBeLessThanOrEqual(40)
  const missing = rows.flatMap((row) => {
    const [first = '', ...others] = quotedIn(row)
    // In a row, files after the first may omit the folders that they share with the first.
    const folders = first.split('/').map((_, count, parts) => parts.slice(0, count).join('/'))
    const exists = (file: string) => folders.some((folder) => existsSync(join(root, folder, file)))
    return [...(existsSync(join(root, first)) ? [] : [first]), ...others.filter((file) => !exists(file))]
  })
  expect(missing).toEqual([])
})

test('docs/ARCHITECTURE.md names every package, and every folder of matchmaker and server', () => {
  const packages = section('Packages')
  const folders = (path: string) =>
    readdirSync(join(root, path), { withFileTypes: true }).flatMap((one) => (one.isDirectory() ? [one.name] : []))
  expect(folders('packages').filter((name) => !packages.includes(`\`packages/${name}\``))).toEqual([])
  for (const path of ['packages/matchmaker/src', 'packages/server/src'])
    expect(folders(path).filter((name) => !packages.includes(`\`${name}\``))).toEqual([])
})

test('the paths in the step tables of docs/ARCHITECTURE.md exist in packages', () => {
  const ways = section("A ticket's way") + section("A server's way") + section('Several processes')
  const paths = quotedIn(ways).filter((quoted) => /^\w+\/src\//.test(quoted))
  expect(paths.length).toBeGreaterThan(15)
  expect(paths.filter((path) => !existsSync(join(root, 'packages', path)))).toEqual([])
})
