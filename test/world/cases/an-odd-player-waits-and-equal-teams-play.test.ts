import { expect, test } from 'vitest'
import { playing } from './playing.js'

const even = {
  kind: 'compare',
  name: 'even',
  team: 'side',
  aggregate: 'count',
  operator: '=',
  otherTeam: 'side',
} as const
const sides = (count: number, max: number) => ({
  teams: [{ name: 'side', count, size: { min: 1, max } }],
  rules: [even],
  fillForMs: 5000,
  expireAfterMs: 300_000,
})

test.each([
  [11, 4, 4, 8],
  [9, 4, 4, 8],
  [17, 2, 12, 16],
])(
  'of %i single players, a queue with %i equal teams of up to %i soon puts %i in one match',
  async (singles, count, max, play) => {
    const { matchmaker, join, run, matchOf, close } = await playing(sides(count, max))
    const ids = Array.from({ length: singles }, (_, nth) => `p${nth}`)
    join(...ids)
    await run(7000)
    const matches = ids.map((id) => matchOf(id))
    const largest = Math.max(...matches.map((match) => (match ? matches.filter((one) => one === match).length : 0)))
    expect(largest).toBe(play)
    expect(matchmaker.inspect().matches.length).toBeGreaterThan(0)
    await close()
  },
)
