import { readFileSync } from 'node:fs'
import { figuresOf, generateCrowd, runCrowd } from '@muster/lab'
import { defineQueue, type QueueDefinition } from '@muster/matchmaker'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

const page = readFileSync(new URL('../../docs/choosing-rules.md', import.meta.url), 'utf8')
const MARKS = /(<!-- figures -->\n)[^]*(<!-- \/figures -->)/

/** Weights of party sizes 1, 2, 3 …, for each example of the page in its order (our choice). */
const PARTIES = [[1], [66, 19, 7, 3, 5], [66, 19, 7, 3, 5], [50, 30, 10, 10], [60, 25, 10, 5], [1]]
/** Numbers of players who arrive per hour. */
const PLAYERS = [1000, 100]
/** Start of the run: a day in January, 19:00 UTC. */
const STARTS_AT = 1_767_636_000_000 + 3_600_000

const examples = page.split(/^## /m).flatMap((section) => {
  const code = /^```yaml\n([\s\S]*?)^```/m.exec(section)?.[1]
  const title = section.slice(0, section.indexOf('\n'))
  return code === undefined ? [] : [{ title, queues: (parse(code) as { queues: QueueDefinition[] }).queues }]
})

const seconds = (ms: number) => (ms < 9950 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`)
const percent = (share: number) => `${Math.round(share * 100)} %`

async function rowOf({ title, queues }: (typeof examples)[number], sizes: number[], players: number) {
  const crowd = generateCrowd({ players, hours: 1, startsAt: STARTS_AT, regions: { Europe: 1 }, parties: { sizes } })
  const deploy = { application: 'game', version: '1' }
  const defined = queues.map((queue) => defineQueue({ deploy, ...queue } as QueueDefinition))
  const { all, matches } = figuresOf(crowd, await runCrowd(crowd, defined), { queues: defined })
  const { p50, p90 } = all.waitMs
  const favourite = matches.favourite.count === 0 ? '–' : percent(matches.favourite.mean)
  const cells = [
    percent(all.matched),
    seconds(p50),
    seconds(p90),
    Math.round(all.skillSpread.mean).toLocaleString('en'),
    favourite,
  ]
  return `| ${title} | ${players.toLocaleString('en')} | ${cells.join(' | ')} |`
}

test(
  'docs/choosing-rules.md has the results of the lab, which `pnpm schema` writes',
  { timeout: 300_000 },
  async () => {
    expect(examples).toHaveLength(PARTIES.length)
    const rows: string[] = []
    for (const [nth, example] of examples.entries())
      for (const players of PLAYERS) rows.push(await rowOf(example, PARTIES[nth] as number[], players))
    const head = '| game | players an hour | matched | wait, half | wait, 90 % | skill spread | favourite |'
    const table = [head, '|---|---|---|---|---|---|---|', ...rows].join('\n')
    expect(page).toMatch(MARKS)
    await expect(
      page.replace(MARKS, (_, begin: string, end: string) => `${begin}\n${table}\n\n${end}`),
    ).toMatchFileSnapshot('../../docs/choosing-rules.md')
  },
)
