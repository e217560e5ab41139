import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { doors, writeApiPages } from './api-pages.js'
import { GENERATED, mapLinks, root, siteHref } from './links.js'
import { openApiPages, type OpenApi } from './openapi-pages.js'

const read = (path: string) => readFileSync(`${root}${path}`, 'utf8')

function write(path: string, text: string): void {
  const file = `${root}${GENERATED}/${path}`
  // An unchanged file must not trigger the development server.
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

/** Returns a section of a page with its heading, up to the next heading of the same level. */
function sectionOf(text: string, title: string): string {
  const found = new RegExp(`^## ${title}\n[^]*?(?=^## )`, 'm').exec(text)?.[0]
  if (found === undefined) throw new Error(`README.md has no section ${title}`)
  return found
}

/** Returns the home page. Its text comes from the README, so that the two cannot differ. */
function homePage(): string {
  const readme = read('README.md')
  const intro = /^# .+\n\n([^]*?)\n\n/.exec(readme)?.[1] ?? ''
  const [tagline = '', use = ''] = intro.split('\n')
  const features = [...sectionOf(readme, 'Why Muster').matchAll(/^- \*\*(.+?)\*\* ([^]*?)(?=\n- |\n\n)/gm)]
  const plain = (text: string) => text.replace(/\s+/g, ' ').replace(/`/g, '')
  const front = {
    layout: 'home',
    title: 'Muster',
    titleTemplate: 'Matchmaking for game backends',
    description: tagline,
    hero: {
      name: 'Muster',
      text: 'Matchmaking for game backends',
      tagline: plain(`${tagline.replace(/^[^:]+: (.)/, (_, first: string) => first.toUpperCase())} ${use}`),
      actions: [
        { theme: 'brand', text: 'A game, step by step', link: '/a-game' },
        { theme: 'alt', text: 'Run the server', link: '/server' },
        { theme: 'alt', text: 'Ticket API', link: '/ticket-api' },
      ],
    },
    features: features.map(([, title = '', details = '']) => ({
      title: title.replace(/\.$/, ''),
      details: plain(details),
    })),
  }
  const body = ['Try it in a minute', 'Install', 'Quickstart'].map((title) => sectionOf(readme, title))
  const linked = mapLinks(body.join('\n'), (href) => siteHref('README.md', href))
  return `---\n${JSON.stringify(front, undefined, 1)}\n---\n\n${linked}`
}

/** The OpenAPI documents, with their folder on the site and the name of their API. */
export const documents = [
  { file: 'docs/ticket-api.openapi.json', folder: 'ticket-api', name: 'Ticket API' },
  { file: 'docs/lobby-api.openapi.json', folder: 'lobby-api', name: 'Lobby API' },
  { file: 'docs/openapi.json', folder: 'service-api', name: 'Deployment service' },
] as const

const newest = (files: readonly string[]) => Math.max(...files.map((file) => statSync(file).mtimeMs))

/** Writes all generated pages. Writes those of the TypeScript API only if a source is newer than they are. */
export async function generate(): Promise<void> {
  write('index.md', homePage())
  for (const { file, folder, name } of documents)
    for (const [page, text] of openApiPages(JSON.parse(read(file)) as OpenApi, name))
      write(`http/${folder}/${page}`, text)
  const api = `${root}${GENERATED}/api`
  const sources = [...doors().values()].flatMap((door) =>
    readdirSync(dirname(door), { recursive: true, encoding: 'utf8' }).map((name) => `${dirname(door)}/${name}`),
  )
  if (!existsSync(`${api}/index.md`) || newest(sources) > statSync(`${api}/index.md`).mtimeMs) await writeApiPages(api)
}
