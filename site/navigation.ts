import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { DefaultTheme } from 'vitepress'
import { doors } from './api-pages.js'
import { documents } from './generate.js'
import { GENERATED, root, titleOf } from './links.js'

type Item = DefaultTheme.SidebarItem

const GUIDE = [
  ...'a-game game-clients lobbies-and-servers browsers game-server servers own-machines any-hoster rules'.split(' '),
  ...'choosing-rules coming-from ratings operating rule-lab replay'.split(' '),
]
const REFERENCE = 'configuration ticket-api relay-packets stability upgrading'.split(' ')
const OPERATIONS =
  'server console serving-players restarting scale-out costs telemetry what-can-go-wrong runbooks'.split(' ')
const DESIGN = 'ARCHITECTURE bench releasing'.split(' ')

/** Returns the navigation item of a page, named by the page's heading. */
const item = (file: string, link: string): Item => ({
  text: titleOf(readFileSync(`${root}${file}`, 'utf8')),
  link: `/${link}`,
})

/** Returns the pages of docs/ by part. A page that no part names belongs to operations. */
export function parts(): Record<'guide' | 'reference' | 'operations' | 'design', Item[]> {
  const all = readdirSync(`${root}docs`).flatMap((file) => (file.endsWith('.md') ? [file.slice(0, -3)] : []))
  const named = new Set([...GUIDE, ...REFERENCE, ...OPERATIONS, ...DESIGN])
  const rest = all.filter((page) => !named.has(page))
  const items = (pages: readonly string[]) => pages.map((page) => item(`docs/${page}.md`, page))
  return {
    guide: items(GUIDE),
    reference: [
      ...items(REFERENCE),
      ...documents.map(({ name, folder }) => ({ text: `${name}: all requests`, link: `/http/${folder}/` })),
      { text: 'TypeScript API', link: '/api/' },
    ],
    operations: items([...OPERATIONS, ...rest]),
    design: [...items(DESIGN), { text: 'Decisions', link: '/decisions/' }],
  }
}

const pagesIn = (folder: string) =>
  readdirSync(`${root}${folder}`).filter((name) => /^(?!index|README).*\.md$/.test(name))

/** Returns a sidebar for each entry point: all entry points, and this one's names by kind. */
function apiSidebars(): DefaultTheme.SidebarMulti {
  const folder = `${root}${GENERATED}/api`
  const named = [...doors().keys()].toSorted().map((door) => {
    const kinds = ['functions', 'classes', 'interfaces']
    const items = kinds.flatMap((kind) => {
      if (!existsSync(`${folder}/${door}/${kind}`)) return []
      const names = pagesIn(`${GENERATED}/api/${door}/${kind}`).map((name) => name.slice(0, -3))
      return [{ text: kind, items: names.map((text) => ({ text, link: `/api/${door}/${kind}/${text}` })) }]
    })
    return { text: door, link: `/api/${door}/`, items }
  })
  const closed = named.map(({ text, link }) => ({ text, link }))
  const sidebar = (items: Item[]) => [{ text: 'TypeScript API', link: '/api/', items }]
  return Object.fromEntries([
    ['/api/', sidebar(closed)],
    ...named.map((open) => [open.link, sidebar(closed.map((one) => (one.text === open.text ? open : one)))]),
  ])
}

/** Returns the sidebars by the beginning of a page's path. */
export function sidebars(): DefaultTheme.SidebarMulti {
  const { guide, reference, operations, design } = parts()
  const http = documents.map(({ name, folder }) => ({
    text: name,
    link: `/http/${folder}/`,
    items: pagesIn(`${GENERATED}/http/${folder}`).map((file) => {
      const { text = '', link } = item(`${GENERATED}/http/${folder}/${file}`, `http/${folder}/${file.slice(0, -3)}`)
      return { text: text.slice(name.length + 2), link: link as string }
    }),
  }))
  return {
    '/': [
      { text: 'Guide', items: guide },
      { text: 'Reference', items: reference },
      { text: 'Operations', items: operations },
      { text: 'Design', items: design },
    ],
    '/http/': http,
    ...apiSidebars(),
    '/decisions/': [
      {
        text: 'Decisions',
        link: '/decisions/',
        items: pagesIn('docs/decisions').map((file) =>
          item(`docs/decisions/${file}`, `decisions/${file.slice(0, -3)}`),
        ),
      },
    ],
  }
}
