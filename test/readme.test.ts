import { existsSync, readFileSync } from 'node:fs'
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
