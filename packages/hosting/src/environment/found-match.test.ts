import { expect, test } from 'vitest'
import { deploySchema } from '../records/deploy.js'
import { foundMatch } from './server-environment.js'
import type { FoundTicket, Order } from '../records/order.js'

const match = { id: 'm1', queue: 'duel', at: 20_000 }
const ticket = (id: string, attributes: NonNullable<FoundTicket['players'][number]['attributes']>): FoundTicket => ({
  id,
  createdAt: 0,
  players: [{ id: `${id}-1`, attributes }],
})
const order = (...tickets: FoundTicket[]): Order => ({
  deploy: deploySchema.parse({ application: 'game', version: '1' }),
  tickets,
  teams: [{ name: 'red' }, { name: 'blue' }, { name: 'spectators' }],
  teamOf: tickets.map((_, index) => index % 2),
  expansionMs: 5000,
  inCommon: () => ({ equality: { map: 'dust' }, intersection: { modes: ['ctf'] } }),
})

test('the description of a match lists the players of each team and what the match has in common', () => {
  const tickets = [ticket('a', {}), ticket('b', {}), ticket('c', {})]
  expect(foundMatch(match, order(...tickets))).toEqual({
    id: 'm1',
    queue: 'duel',
    foundAt: 20_000,
    expansionMs: 5000,
    tickets,
    teams: [
      { name: 'red', ticketIds: ['a', 'c'] },
      { name: 'blue', ticketIds: ['b'] },
      { name: 'spectators', ticketIds: [] },
    ],
    equality: { map: 'dust' },
    intersection: { modes: ['ctf'] },
  })
})
