import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { root } from '../links.js'

export const dist = `${root}site/dist`

/** The HTML of the built pages, by path on the site. */
export const pages: ReadonlyMap<string, string> = new Map(
  readdirSync(dist, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.html') && path !== '404.html')
    .map((path) => [`/${path}`, readFileSync(`${dist}/${path}`, 'utf8')]),
)

/** Returns the tags of a page that have this attribute, as `[tag, value]`. */
export const attributes = (html: string, name: string): [tag: string, value: string][] =>
  Array.from(
    html.matchAll(new RegExp(`<([\\w-]+)(?: [^<>]*?)? ${name}="([^"]*)"`, 'g')),
    ([, tag = '', value = '']) => [tag, value.replaceAll('&amp;', '&')],
  )

/** Returns the ids in a page. */
export const idsOf = (html: string): Set<string> => new Set(attributes(html, 'id').map(([, id]) => id))

/** Returns the file of the site to which a link leads, and the anchor; undefined if the link leads elsewhere. */
export function targetOf(page: string, href: string): { file: string; anchor: string } | undefined {
  if (/^[a-z]+:/.test(href)) return undefined
  const [path = '', anchor = ''] = decodeURI(href).split('#')
  const file = path === '' ? page : posix.resolve(posix.dirname(page), path) + (path.endsWith('/') ? '/' : '')
  return { file: file.replace(/\/+$/, '/index.html'), anchor: decodeURIComponent(anchor) }
}

export const exists = (file: string): boolean => pages.has(file) || existsSync(`${dist}${file}`)
