import type { Player, Ticket } from '@muster/matchmaker'
import { expect, test } from 'vitest'
import { verify } from './verify.js'

const five = ['tank', 'healer', 'damage', 'damage', 'damage']

const ticketOf = (id: string): Ticket => ({
  id,
  version: 3,
  queues: ['ranked'],
  priority: 0,
  players: [{ id }],
  status: 'HOST_ASSIGNED',
  createdAt: 0,
  attempts: 0,
})

/** Creates a match of ranked players. Each has a ticket, named after the team and the position in it. */
function match(teams: readonly (readonly string[])[], more: Partial<Ticket> = {}) {
  const players = new Map<string, Player>()
  const tickets = teams.flatMap((roles, team) =>
    roles.map((role, place): Ticket => {
      const id = `${team}-${place}`
      players.set(id, { id, roles: [role] })
      return { ...ticketOf(id), queue: 'ranked', matchId: 'm', team: `team-${team + 1}`, ...more }
    }),
  )
  return { tickets, players }
}

const wrongWith = ({ tickets, players }: ReturnType<typeof match>, left: readonly string[] = []) =>
  verify(tickets, players, new Set(left))

test('the demo verification finds no fault in a valid match', () => {
  expect(wrongWith(match([five, five.toReversed()]))).toEqual([])
})

test('the demo verification finds teams of a wrong size or without their roles', () => {
  expect(wrongWith(match([five]))).toEqual(['match m: 1 teams'])
  expect(wrongWith(match([five, five.slice(0, 4)]))).toEqual(['match m: team-2 has 4 players'])
  const unhealed = ['tank', 'damage', 'damage', 'damage', 'damage']
  expect(wrongWith(match([five, unhealed]))).toEqual(['match m: team-2 lacks a tank or a healer'])
})

test('the demo verification does not count one player as both tank and healer', () => {
  const { tickets, players } = match([five, ['both', 'damage', 'damage', 'damage', 'damage']])
  players.set('1-0', { id: '1-0', roles: ['tank', 'healer'] })
  expect(wrongWith({ tickets, players })).toEqual(['match m: team-2 lacks a tank or a healer'])
})

test('the demo verification finds players who avoid each other or are in two matches', () => {
  const { tickets, players } = match([five, five])
  players.set('0-0', { id: '0-0', roles: ['tank'], avoid: ['1-4'] })
  expect(wrongWith({ tickets, players })).toEqual(['match m: players who avoid each other'])
  const twice = match([five, five])
  expect(
    verify([...twice.tickets, ...match([five, five], { matchId: 'n' }).tickets], twice.players, new Set()),
  ).toHaveLength(10)
})

test('the demo verification counts players of duels and present players of social matches', () => {
  expect(wrongWith(match([['damage'], ['damage'], ['damage']], { queue: 'duel' }))).toEqual(['match m: 3 duellists'])
  const crowd = match([Array.from({ length: 13 }, () => 'damage')], { queue: 'social' })
  expect(wrongWith(crowd)).toEqual(['match m: 13 players'])
  expect(wrongWith(crowd, ['0-3'])).toEqual([])
})

test('the demo verification finds a promised beacon that is too far from a player', () => {
  const promised = { beacon: 'Oslo', latencyMs: 60 }
  const { tickets, players } = match([['damage'], ['damage']], {
    queue: 'duel',
    assignment: { fqdn: 'a', publicIp: undefined, ports: {}, location: undefined, promised },
  })
  players.set('0-0', { id: '0-0', latencies: { Oslo: 60 } })
  expect(wrongWith({ tickets, players })).toEqual([])
  players.set('1-0', { id: '1-0', latencies: { Oslo: 61 } })
  expect(wrongWith({ tickets, players })).toEqual(['match m: 1-0 has 61 ms to Oslo, and 60 were promised'])
})
