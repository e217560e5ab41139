import { expect, test } from 'vitest'
import { duel, setUp } from '../matchmaker.fixture.js'

test.each([
  ['the highest priority', 5, 0],
  ['the longest wait, at equal priority', 0, 1000],
])('if a tick has one server for matches of several queues, the match with %s gets it', async (_, priority, lead) => {
  const { matchmaker, clock, seen } = setUp({ queues: [duel, { ...duel, name: 'other' }], maxServers: 1 })
  const pair = (queue: string, given: object = {}) => {
    for (const end of ['a', 'b']) {
      const id = `${queue}-${end}`
      matchmaker.createTicket({ id, queue, players: [{ id, ip: '198.51.100.7' }], ...given })
    }
  }
  pair('other', { priority })
  await clock.advance(lead)
  pair('duel')
  await matchmaker.tick()
  expect(seen.matchFound?.map(({ queue }) => queue)).toEqual(['other'])
  expect(matchmaker.getTicket('duel-a')?.waitingFor).toBe('servers')
})
