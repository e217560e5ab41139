import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

test("the README's code is the quickstart that CI runs", () => {
  const code = /```ts\n([\s\S]*?)```/.exec(read('README.md'))?.[1]
  const [, example] = /^\/\*\*.*\*\/\n([\s\S]*)$/.exec(read('examples/quickstart.ts')) ?? []
  expect(code?.trim()).toBe(example?.trim())
})

test("the README's links have targets", () => {
  const targets = Array.from(read('README.md').matchAll(/\]\((?!http)([^)#]+)\)/g), ([, path]) => path as string)
  expect(targets.length).toBeGreaterThan(5)
  for (const path of targets) expect(existsSync(new URL(`../${path}`, import.meta.url)), path).toBe(true)
})

test('the README has at most 150 lines, and links to every page of docs', () => {
  const text = read('README.md')
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(150)
  const pages = readdirSync(new URL('../docs', import.meta.url)).filter((name) => name.endsWith('.md'))
  expect(pages.filter((name) => !text.includes(`(docs/${name})`))).toEqual([])
})

test('the code in docs/a-game.md is that of the example game', () => {
  const lines = (text: string) => text.split('\n').map((line) => line.trim())
  const blocks = [...read('docs/a-game.md').matchAll(/^```\w+ (\S+)\n([\s\S]*?)^```/gm)]
  expect(blocks.length).toBeGreaterThan(10)
  for (const [, path = '', code = ''] of blocks) {
    const file = lines(read(path)).join('\n')
    // A line with three dots stands for omitted code.
    for (const part of code.split('// …\n')) expect(file, path).toContain(lines(part.trim()).join('\n'))
  }
})
