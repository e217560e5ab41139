import type { DefaultTheme } from 'vitepress'

/** Matches the pages of the TypeScript API that describe a single name. */
const NAMES = /generated\/api\/(?!.*index\.md$)/

/**
 * Returns a word as it is indexed and searched: without its ending. Returns null for words that every page has. The
 * function is sent to the browser as source text, so it uses nothing from this module.
 */
function processTerm(term: string): string | null {
  const word = term.toLowerCase()
  const common =
    'a an and are as at be by can do does for from has have how i if in is it its my of on or over so that the their ' +
    'them then there they this to was what when where which who why will with you your'
  if (common.split(' ').includes(word)) return null
  if (!/^[a-z]{5,}$/.test(word)) return word
  return word.replace(/(?:ing|ed|es|s|e)$/, '')
}

/**
 * Options of the site's search. The functions of `miniSearch` are sent to the browser as source text, so they use
 * nothing from this module.
 */
export const searchOptions = {
  /** For a name of the TypeScript API, only its title and description are indexed, without the names of parameters. */
  _render: (source, env, md) => {
    const { path } = env as { path: string }
    return md.render(NAMES.test(path) ? (source.split(/\n## /)[0] ?? '') : source, env)
  },
  miniSearch: {
    options: { processTerm },
    searchOptions: {
      prefix: (term: string) => term.length > 3,
      fuzzy: (term: string) => (term.length > 5 ? 0.2 : false),
      boost: { title: 4, text: 1, titles: 2 },
      // Guides rank before generated pages, and decisions rank last.
      boostDocument: (id: string) => (id.includes('/decisions/') ? 0.3 : /^\/(api|http)\//.test(id) ? 0.5 : 1),
    },
  },
} satisfies DefaultTheme.LocalSearchOptions
