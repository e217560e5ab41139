import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { root } from '../links.js'
import { parts } from '../navigation.js'
import { attributes, dist, exists, idsOf, pages, targetOf } from './pages.js'

test('every page of docs/ is built, and is in the navigation', () => {
  const linked = new Set(Object.values(parts()).flatMap((items) => items.map(({ link }) => link)))
  const names = readdirSync(`${root}docs`).flatMap((file) => (file.endsWith('.md') ? [`/${file.slice(0, -3)}`] : []))
  expect(names.length).toBeGreaterThan(20)
  expect(names.filter((name) => !linked.has(name))).toEqual([])
  expect(names.filter((name) => !pages.has(`${name}.html`))).toEqual([])
  // At least one page for each request of the HTTP APIs, each entry point and each of its names
  expect(pages.size).toBeGreaterThan(500)
})

test('every link of a site page leads to a page, and every anchor to a heading', () => {
  const ids = new Map([...pages].map(([page, html]) => [page, idsOf(html)]))
  const dead: string[] = []
  let links = 0
  for (const [page, html] of pages)
    for (const [, href] of attributes(html, 'href')) {
      const target = targetOf(page, href)
      if (target === undefined) continue
      links += 1
      const { file, anchor } = target
      if (!exists(file) || (anchor !== '' && ids.get(file)?.has(anchor) !== true)) dead.push(`${page}: ${href}`)
    }
  expect([...new Set(dead)]).toEqual([])
  expect(links).toBeGreaterThan(10_000)
})

test('a site page loads nothing from other hosts', () => {
  const elsewhere: string[] = []
  for (const [page, html] of pages) {
    const loaded = [...attributes(html, 'src'), ...attributes(html, 'href').filter(([tag]) => tag !== 'a')]
    for (const [tag, url] of [...loaded, ...attributes(html, 'srcset'), ...attributes(html, 'poster')])
      if (/^(https?:)?\/\//.test(url)) elsewhere.push(`${page}: <${tag}> ${url}`)
  }
  // Style sheets name fonts and pictures.
  const styles = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.css'))
  for (const path of styles)
    for (const [, url = ''] of readFileSync(`${dist}/${path}`, 'utf8').matchAll(/(?:url\(|@import )["']?([^"')]+)/g))
      if (/^(https?:)?\/\//.test(url)) elsewhere.push(`${path}: ${url}`)
  expect(styles.length).toBeGreaterThan(0)
  expect(elsewhere).toEqual([])
})

test('text in angle brackets or braces is shown unchanged on the site', () => {
  // An unknown element is text that was parsed as an element by mistake.
  const known = new Set(
    `a abbr b blockquote body br button circle code details div em footer g h1 h2 h3 h4 h5 h6 head header hr html i img
    input kbd label li line link main marker meta nav ol p path polygon polyline pre rect script section span strong
    style sub summary sup svg table tbody td text th thead title tr ul aside defs article del s`.split(/\s+/),
  )
  const wrong = [...pages].flatMap(([page, html]) => {
    const body = html.replace(/<(script|style)\b[^]*?<\/\1>/g, '')
    return Array.from(body.matchAll(/<([a-zA-Z][\w-]*)/g), ([, tag = '']) => tag)
      .filter((tag) => !known.has(tag))
      .map((tag) => `${page}: <${tag}>`)
  })
  expect([...new Set(wrong)]).toEqual([])
})

test('every site page exists as Markdown, and llms.txt names it', () => {
  const markdown = [...pages.keys()].map((page) => page.replace(/html$/, 'md'))
  expect(markdown.filter((path) => !existsSync(`${dist}${path}`))).toEqual([])
  const list = readFileSync(`${dist}/llms.txt`, 'utf8')
  const links = Array.from(list.matchAll(/\]\((\/[^)]+)\)/g), ([, path = '']) => path)
  expect(links.filter((path) => !existsSync(`${dist}${path}`))).toEqual([])
  expect(markdown.filter((path) => !path.startsWith('/api/') && !links.includes(path))).toEqual([])
  const full = readFileSync(`${dist}/llms-full.txt`, 'utf8')
  for (const name of ['rules', 'restarting']) expect(full).toContain(readFileSync(`${dist}/${name}.md`, 'utf8'))
})
