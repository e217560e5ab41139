import { configJsonSchema } from '@muster/server'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { withQueueTexts } from './described.js'
import { tablesOf } from './tables.js'

const page = new URL('../../docs/configuration.md', import.meta.url)
const MARKS = /(<!-- fields -->\n)[^]*(<!-- \/fields -->)/

test('docs/configuration.md has every field of the configuration, which `pnpm schema` writes', async () => {
  const text = readFileSync(page, 'utf8')
  expect(text).toMatch(MARKS)
  const tables = tablesOf(withQueueTexts(configJsonSchema()))
  await expect(
    text.replace(MARKS, (_, begin: string, end: string) => `${begin}\n${tables}\n${end}`),
  ).toMatchFileSnapshot('../../docs/configuration.md')
})
