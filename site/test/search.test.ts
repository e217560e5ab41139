import { readdirSync } from 'node:fs'
import MiniSearch from 'minisearch'
import { expect, test } from 'vitest'
import { searchOptions } from '../search.js'
import { dist } from './pages.js'
import { questions } from './questions.js'

/** Loads the index of the site. Returns a function that searches it like the search box. */
async function siteSearch(): Promise<(text: string) => string[]> {
  const chunks = `${dist}/assets/chunks`
  const file = readdirSync(chunks).find((name) => name.startsWith('@localSearchIndexroot')) as string
  const { default: json } = (await import(`${chunks}/${file}`)) as { default: string }
  const index = MiniSearch.loadJSON(json, {
    fields: ['title', 'titles', 'text'],
    storeFields: ['title', 'titles'],
    ...searchOptions.miniSearch.options,
  })
  return (text) => index.search(text, searchOptions.miniSearch.searchOptions).map(({ id }) => id as string)
}

test('the site search answers the questions of newcomers by its first hit', async () => {
  const search = await siteSearch()
  expect(questions).toHaveLength(20)
  const missed = questions.flatMap(({ ask, answers }) => {
    const hits = search(ask).slice(0, 3)
    return answers.some((answer) => answer === hits[0] || answer === hits[0]?.split('#')[0])
      ? []
      : [{ ask, hits, answers }]
  })
  expect(missed.length, JSON.stringify(missed, undefined, 1)).toBeLessThanOrEqual(2)
})

test('the site search finds the name of an export', async () => {
  const search = await siteSearch()
  for (const name of ['createMatchmaker', 'openStore', 'createGameServer'])
    expect(search(name)[0]).toMatch(new RegExp(`^/api/.*#${name}$`, 'i'))
})
