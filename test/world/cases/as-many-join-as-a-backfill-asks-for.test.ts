import { expect, test } from 'vitest'
import { playing } from './playing.js'

test('exactly as many players join a running match as its backfill has open slots', async () => {
  const sides = {
    teams: [{ name: 'side', count: 2, size: { min: 1, max: 8 } }],
    fillForMs: 1000,
    expireAfterMs: 600_000,
  }
  const { matchmaker, join, run, matchOf, close } = await playing(sides)
  join('a', 'b')
  await run(60_000)
  const matchId = matchOf('a') ?? ''
  expect(matchOf('b')).toBe(matchId)
  const teams = ['side-1', 'side-2'].map((name) => ({ name, slots: 1 }))
  matchmaker.createBackfill({ matchId, id: 'backfill', teams })
  join('c', 'd', 'e', 'f', 'g')
  await run(700)
  expect(['c', 'd', 'e', 'f', 'g'].filter((id) => matchOf(id) === matchId)).toHaveLength(2)
  await close()
})
