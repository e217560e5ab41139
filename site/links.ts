import { existsSync, readFileSync, statSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The repository's folder. */
export const root = fileURLToPath(new URL('..', import.meta.url))

/** URL of the repository, from the packages' manifests. */
const web = (
  JSON.parse(readFileSync(`${root}packages/core/package.json`, 'utf8')) as { repository: { url: string } }
).repository.url
  .replace(/^git\+/, '')
  .replace(/\.git$/, '')

/** Folder of the generated Markdown pages. Each build writes them again. */
export const GENERATED = 'site/generated'

/** Returns the path on the site of a page of the repository: `docs/rules.md` → `rules.md`. */
export function sitePath(page: string): string {
  if (page === 'docs/decisions/README.md') return 'decisions/index.md'
  for (const folder of ['docs', GENERATED]) if (page.startsWith(`${folder}/`)) return page.slice(folder.length + 1)
  return page
}

/**
 * Returns the target on the site for a link in a page. A link to a page stays relative. A link to an OpenAPI document
 * leads to its reference, and one to any other file leads to the repository on the web.
 * @param page path of the page in the repository, e.g. `docs/rules.md`
 * @throws Error if the file does not exist
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

/** Returns the text with each link outside of code changed. */
export function mapLinks(text: string, change: (href: string) => string): string {
  const parts = text.split(/(^```[^]*?^```$|`[^`\n]*`)/m)
  return parts
    .map((part, index) =>
      index % 2 === 1 ? part : part.replace(/\]\(([^)\s]+)\)/g, (_, href) => `](${change(href)})`),
    )
    .join('')
}

/** Returns the first heading of a page, without Markdown marks. */
export const titleOf = (text: string): string => (/^# (.+)$/m.exec(text)?.[1] ?? '').replace(/`/g, '')
