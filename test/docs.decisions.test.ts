import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { filesBelow } from './imports/files.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = 'docs/decisions'
const read = (path: string) => readFileSync(join(root, path), 'utf8')

const pages = readdirSync(join(root, folder)).map((name) => `${folder}/${name}`)
const records = pages.filter((path) => /^\d/.test(basename(path)))
const numberOf = (path: string) => basename(path).slice(0, 4)
const files = filesBelow(root, '')
const names = new Set(files.map((path) => basename(path)))

/** `0001: Node's versions` → `0001-nodes-versions.md` */
const fileNameOf = (title: string) =>
  `${title
    .toLowerCase()
    .replace(/['`’]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')}.md`

test('the file name of a decision consists of the words of its title', () => {
  expect(records.length).toBeGreaterThan(50)
  for (const path of records) expect(basename(path)).toBe(fileNameOf(/^# (\d{4}: .+)\n/.exec(read(path))?.[1] ?? ''))
})

test('every decision has a status', () => {
  const status = /^# .+\n\nStatus: (accepted|superseded by \[\d{4}\]\([\w.-]+\)|dropped)\./
  expect(records.filter((path) => !status.test(read(path)))).toEqual([])
})

test('the index of decisions lists every decision once, with its title', () => {
  const lines = read(`${folder}/README.md`).match(/^- \[\d{4}\]\(.+\): .+$/gm) ?? []
  const expected = records.map((path) => {
    const title = /^# \d{4}: (.+)/.exec(read(path))?.[1] ?? ''
    return `- [${numberOf(path)}](${basename(path)}): ${title}`
  })
  expect(lines.toSorted()).toEqual(expected.toSorted())
})

test.each(pages)('the links and paths of the decision %s lead to files', (page) => {
  const text = read(page)
  const links = Array.from(text.matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)/g), ([, path = '']) => path)
  expect(links.filter((path) => !existsSync(join(root, dirname(page), path)))).toEqual([])
  const code = Array.from(text.matchAll(/`([\w@.-][\w@./-]*)`/g), ([, path = '']) => path)
  const dead = code.filter((path) =>
    /^(packages|test|bench|docs|engines|scripts|examples)\//.test(path)
      ? !existsSync(join(root, path))
      : /\.(ts|mjs|jsonl|txt|md)$/.test(path) && !path.startsWith('NNNN') && !names.has(basename(path)),
  )
  expect(dead).toEqual([])
})

test('decisions that other files name exist', () => {
  const numbers = new Set(records.map(numberOf))
  const named = files
    .filter((path) => /\.(ts|tsx|mjs|md)$/.test(path))
    .flatMap((path) =>
      Array.from(read(path).matchAll(/\bdecisions?[ /](\d{4})\b/g), ([, number = '']) => `${path}: ${number}`),
    )
  expect(named.length).toBeGreaterThan(5)
  expect(named.filter((line) => !numbers.has(line.slice(-4)))).toEqual([])
})
