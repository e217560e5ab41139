import { expect, test } from 'vitest'
import { ruleSchema } from '../queues/rules/rule-schema.js'
import { deploySchema } from './deploy.js'
import { foundMatch } from '../matches/found-match.js'
import type { FoundTicket, Order } from './allocation.js'

const match = { matchId: 'm1', queue: 'duel', at: 20_000 }
const ticket = (id: string, attributes: NonNullable<FoundTicket['players'][number]['attributes']>): FoundTicket => ({
  id,
  createdAt: 0,
  players: [{ id: `${id}-1`, attributes }],
})
const order = (rules: readonly unknown[], ...tickets: FoundTicket[]): Order => ({
  deploy: deploySchema.parse({ application: 'game', version: '1' }),
  tickets,
  teams: [{ name: 'red' }, { name: 'blue' }, { name: 'spectators' }],
  teamOf: tickets.map((_, index) => index % 2),
  rules: rules.map((rule) => ruleSchema.parse(rule)),
  expansionMs: 5000,
  secret: undefined,
})

test('says who plays in which team', () => {
  const tickets = [ticket('a', {}), ticket('b', {}), ticket('c', {})]
  expect(foundMatch(match, order([], ...tickets))).toEqual({
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
    equality: {},
    intersection: {},
  })
})

test('says what all of them have in common', () => {
  const rules = [
    { kind: 'equal', attribute: 'map' },
    { kind: 'equal', attribute: 'region' },
    { kind: 'overlap', attribute: 'modes' },
  ]
  const both = [
    ticket('a', { map: 'dust', region: 'eu', modes: ['ctf', 'koth', 'tdm'] }),
    ticket('b', { map: 'dust', region: 'us', modes: ['tdm', 'ctf'] }),
  ]
  const { equality, intersection } = foundMatch(match, order(rules, ...both))
  expect(equality).toEqual({ map: 'dust' })
  expect(intersection).toEqual({ modes: ['ctf', 'tdm'] })
})
