import type { DefaultTheme } from 'vitepress'

/** Where pages of the TypeScript API are that describe one name. */
const NAMES = /generated\/api\/(?!.*index\.md$)/

/**
 * A word as it is indexed and searched: without its ending, and null for words that every page has.
 * A function that is sent to the browser as text, so it stands alone.
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

/** How the site searches. Functions of `miniSearch` are sent to the browser as text, so each stands alone. */
export const searchOptions = {
  /** Of a name of the TypeScript API its title and description are found, and not the names of all parameters. */
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
      // Guides come before what is made from sources, and reasons come last.
      boostDocument: (id: string) => (id.includes('/decisions/') ? 0.3 : /^\/(api|http)\//.test(id) ? 0.5 : 1),
    },
  },
} satisfies DefaultTheme.LocalSearchOptions
