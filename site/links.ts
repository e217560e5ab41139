import { existsSync, readFileSync, statSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of the repository. */
export const root = fileURLToPath(new URL('..', import.meta.url))

/** The repository on the web, as the packages name it. */
const web = (
  JSON.parse(readFileSync(`${root}packages/core/package.json`, 'utf8')) as { repository: { url: string } }
).repository.url
  .replace(/^git\+/, '')
  .replace(/\.git$/, '')

/** Where generated pages are: Markdown that is made anew by each build. */
export const GENERATED = 'site/generated'

/** The path on the site of a page of the repository, without extension: `docs/rules.md` → `rules.md`. */
export function sitePath(page: string): string {
  if (page === 'docs/decisions/README.md') return 'decisions/index.md'
  for (const folder of ['docs', GENERATED]) if (page.startsWith(`${folder}/`)) return page.slice(folder.length + 1)
  return page
}

/**
 * Where a link of a page leads on the site. A page stays a relative link; an OpenAPI document becomes its reference;
 * every other file of the repository becomes a link to the repository on the web.
 * @param page the path of the page in the repository, such as `docs/rules.md`.
 * @throws Error if the file does not exist.
 */
export function siteHref(page: string, href: string): string {
  if (href === '' || /^([a-z]+:|#|\/)/.test(href) || page.startsWith(`${GENERATED}/`)) return href
  const [path = '', anchor] = href.split('#')
  const hash = anchor === undefined ? '' : `#${anchor}`
  const target = posix.join(posix.dirname(page), decodeURI(path)).replace(/\/$/, '')
  const document = /^docs\/(.+)\.openapi\.json$|^docs\/(openapi)\.json$/.exec(target)
  if (document !== null) return `/http/${document[1] ?? 'service-api'}/`
  if (!existsSync(`${root}${target}`)) throw new Error(`${page}: nothing is at ${href}`)
  if (/^docs\/decisions(\/README\.md)?$/.test(target)) return `/decisions/${hash}`
  if (target.startsWith('docs/') && target.endsWith('.md')) return `/${sitePath(target)}${hash}`
  return `${web}/${statSync(`${root}${target}`).isDirectory() ? 'tree' : 'blob'}/main/${target}${hash}`
}

/** The text with each link outside of code changed. */
export function mapLinks(text: string, change: (href: string) => string): string {
  const parts = text.split(/(^```[^]*?^```$|`[^`\n]*`)/m)
  return parts
    .map((part, index) =>
      index % 2 === 1 ? part : part.replace(/\]\(([^)\s]+)\)/g, (_, href) => `](${change(href)})`),
    )
    .join('')
}

/** The first heading of a page, without marks. */
export const titleOf = (text: string): string => (/^# (.+)$/m.exec(text)?.[1] ?? '').replace(/`/g, '')
