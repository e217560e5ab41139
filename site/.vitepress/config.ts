import { readdirSync } from 'node:fs'
import { defineConfig } from 'vitepress'
import { generate } from '../generate.js'
import { GENERATED, root, siteHref } from '../links.js'
import { writeMarkdownCopies } from '../markdown-copies.js'
import { parts, sidebars } from '../navigation.js'
import { searchOptions } from '../search.js'

const favicon =
  'data:image/svg+xml,' +
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#3451b2"/>' +
      '<path d="M7 24V8l9 9 9-9v16" fill="none" stroke="#fff" stroke-width="4" stroke-linejoin="round"/></svg>',
  )

export default async () => {
  await generate()
  const { guide, reference, operations } = parts()
  return defineConfig({
    title: 'Muster',
    description: 'Matchmaking for game backends',
    lang: 'en',
    head: [['link', { rel: 'icon', href: favicon }]],
    // Pages stay in their places in the repository. Generated pages are placed beside them on the site.
    srcDir: root,
    srcExclude: [
      ...readdirSync(root).flatMap((name) => (['docs', 'site'].includes(name) ? [] : [name, `${name}/**`])),
      'site/*.md',
    ],
    rewrites: {
      'docs/decisions/README.md': 'decisions/index.md',
      'docs/:page(.*)': ':page',
      [`${GENERATED}/:page(.*)`]: ':page',
    },
    // The navigation is one file, instead of a part of each page.
    metaChunk: true,
    outDir: `${root}site/dist`,
    cacheDir: `${root}site/node_modules/.vitepress`,
    markdown: {
      theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
      languageAlias: { requests: 'http' },
      // Braces in prose are no attributes.
      attrs: { disable: true },
      config: (md) => {
        md.core.ruler.push('repository-links', ({ tokens, env }) => {
          // A title that is rendered separately has no path.
          const { path = '', realPath = path } = env as { realPath?: string; path?: string }
          const page = realPath.slice(root.length)
          for (const token of tokens.flatMap(({ children }) => children ?? [])) {
            const href = token.type === 'link_open' ? token.attrGet('href') : null
            if (href !== null) token.attrSet('href', siteHref(page, href))
          }
          // Without a text, the header cell of a column would be an empty heading for screen readers.
          for (const [index, token] of tokens.entries())
            if (token.type === 'th_open' && tokens[index + 1]?.content === '')
              for (const cell of [token, tokens[index + 2]]) if (cell !== undefined) cell.tag = 'td'
        })
        const fence = md.renderer.rules.fence
        md.renderer.rules.fence = (...args) => {
          const { info, content } = args[0][args[1]] ?? { info: '', content: '' }
          if (info !== 'mermaid') return fence?.(...args) ?? ''
          return `<MermaidDrawing source="${encodeURIComponent(content)}" />\n`
        }
        // Two braces in prose are not an expression of Vue.
        const text = md.renderer.rules.text
        md.renderer.rules.text = (...args) => (text?.(...args) ?? '').replaceAll('{{', '&#123;&#123;')
      },
    },
    themeConfig: {
      nav: [
        { text: 'Guide', items: guide as { text: string; link: string }[] },
        { text: 'Reference', items: reference as { text: string; link: string }[] },
        { text: 'Operations', items: operations as { text: string; link: string }[] },
        { text: 'Design', link: '/ARCHITECTURE', activeMatch: '^/(ARCHITECTURE|bench|decisions/)' },
      ],
      sidebar: sidebars(),
      outline: [2, 3],
      search: { provider: 'local', options: searchOptions },
    },
    vite: {
      // The search index is loaded only when somebody searches.
      build: { chunkSizeWarningLimit: 4000 },
      // The repository has other pages and sources that do not belong to the site.
      optimizeDeps: { entries: [] },
      server: { watch: { ignored: [`${root}!(docs|site)/**`] } },
      resolve: {
        alias: [{ find: /^\.\/VPHome\.vue$/, replacement: `${root}site/.vitepress/theme/HomePage.vue` }],
      },
      plugins: [
        {
          // Pages are outside of this package, but Vue is installed in it. The server-side code of pages finds Vue by
          // this plugin.
          name: 'vue-of-this-package',
          enforce: 'pre',
          resolveId: (id, _importer, { ssr }) =>
            ssr === true && /^vue(\/server-renderer)?$/.test(id) ? { id, external: true } : undefined,
        },
      ],
    },
    buildEnd: ({ outDir, pages }) => writeMarkdownCopies(outDir, pages),
  })
}
