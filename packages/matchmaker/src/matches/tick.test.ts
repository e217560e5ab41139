import { expect, test } from 'vitest'
import { duel, setUp } from '../matchmaker.fixture.js'

test.each([
  ['the highest priority', 5, 0],
  ['the longest wait, at equal priority', 0, 1000],
])('in a tick the only server goes to the match with %s, in any queue', async (_, priority, lead) => {
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
