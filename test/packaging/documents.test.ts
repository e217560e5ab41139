import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { root } from './packed.js'

const names = readdirSync(join(root, 'packages'))

describe('the documents of the package', () => {
  test.each(names)('the documents of @muster/%s link to its files or to the home page in its manifest', (name) => {
    const folder = join(root, 'packages', name)
    const { homepage } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { homepage: string }
    const links = Array.from(
      readFileSync(join(folder, 'README.md'), 'utf8').matchAll(/\]\(([^)]+)\)/g),
      ([, link = '']) => link,
    )
    const files = readdirSync(folder)
    expect(
      links.filter((link) => !link.startsWith(`${homepage}/`) && !link.startsWith('https://') && !files.includes(link)),
    ).toEqual([])
  })

  test.each(names)('the documents of @muster/%s link to files that exist at its home page', (name) => {
    const text = readFileSync(join(root, 'packages', name, 'README.md'), 'utf8')
    const { homepage } = JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8')) as {
      homepage: string
    }
    const paths = Array.from(text.matchAll(/\]\((https:[^)]+)\)/g), ([, link = '']) => link).flatMap((link) =>
      link.startsWith(`${homepage}/blob/main/`) ? link.slice(`${homepage}/blob/main/`.length).replace(/#.*/, '') : [],
    )
    for (const path of paths) expect(() => readFileSync(join(root, path)), path).not.toThrow()
  })
})
