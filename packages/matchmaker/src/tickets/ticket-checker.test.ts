import { createManualClock, seededRandom } from '@muster/core/clock'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { InvalidQueue, InvalidTicket, PlayerBusy, PlayerOverLimit, PlayerPlaying, UnknownQueue } from '../errors.js'
import { duel, setUp } from '../matchmaker.fixture.js'
import type { QueueDefinition } from '../queues/queue.js'
import { readBody, storedTicket } from './checked-ticket.js'
import { createTicketChecker } from './ticket-checker.js'
import { readTicketInput } from './ticket-input.js'
import type { Ticket, TicketInput } from './ticket.js'

const ranked: QueueDefinition = {
  ...duel,
  name: 'ranked',
  rules: [{ kind: 'difference', attribute: 'skill', max: 100 }],
}
const near: QueueDefinition = { ...duel, name: 'near', rules: [{ kind: 'distance', maxKm: 100 }] }
const both: QueueDefinition = { ...duel, name: 'both', playersMayWaitTwice: true, playersMayWaitWhilePlaying: true }
const also: QueueDefinition = { ...both, name: 'also' }
const queues = [duel, ranked, near, both, also]

const checker = (given = queues, maxMatchesPerPlayer = 2) =>
  createTicketChecker({ queues: given, maxMatchesPerPlayer, clock: createManualClock(), random: seededRandom(3) })

const ann = { id: 'ann', ip: '198.51.100.7' }
const ticket = (id: string, given: Partial<Ticket>): Ticket => ({
  ...checker().created(checker().check({ id, queue: 'duel', players: [ann] }), 1),
  ...given,
})

test.each<[string, TicketInput]>([
  ['an unknown queue', { queue: 'dual', players: [ann] }],
  ['no player', { queue: 'duel', players: [] }],
  ['an invalid address', { queue: 'duel', players: [{ id: 'ann', ip: 'here' }] }],
  ['a player without a place', { queue: 'duel', players: [{ id: 'ann', latencies: { oslo: 20 } }] }],
  ['a missing attribute', { queue: 'ranked', players: [ann] }],
  ['an attribute missing in one of several queues', { queues: ['duel', 'ranked'], players: [ann] }],
  ['too large a party', { queue: 'duel', players: ['a', 'b', 'c'].map((id) => ({ id, ip: '198.51.100.7' })) }],
  ['an invalid ticket id', { id: 'a b', queue: 'duel', players: [ann] }],
])('the ticket checker refuses %s with the error of a matchmaker', (_, input) => {
  const { matchmaker } = setUp({ queues })
  const refused = (act: () => unknown) => {
    try {
      act()
    } catch (error) {
      return error as Error
    }
    return undefined
  }
  const [own, whole] = [refused(() => checker().check(input)), refused(() => matchmaker.createTicket(input))]
  expect(own).toBeInstanceOf(Error)
  expect(own).toEqual(whole)
})

test('the ticket checker accepts a new ticket with the same data as a matchmaker does', () => {
  const { matchmaker, clock } = setUp({ queues })
  const input = { id: 'a', queues: ['both', 'also'], players: [ann, { ...ann, id: 'ben' }], priority: 7 }
  const { created, check } = checker()
  const checked = check(input)
  const view = created(checked, clock.now())
  expect(view).toEqual(matchmaker.createTicket(input))
  expect(storedTicket({ id: 'a', body: checked.body, createdAt: clock.now() })).toEqual(view)
})

test('the ticket checker creates distinct ids', () => {
  const { check } = checker()
  const ids = [1, 2, 3].map(() => check({ queue: 'duel', players: [ann] }).id)
  expect(new Set(ids).size).toBe(3)
})

test('property: the body of a checked ticket contains the whole ticket', () => {
  const name = fc.stringMatching(/^[a-z_"\\\n]{1,6}$/)
  const names = fc.uniqueArray(name, { maxLength: 3 })
  const player = fc.record(
    {
      id: name,
      ip: fc.constantFrom('198.51.100.7', '2001:db8::1'),
      coordinates: fc.record({
        latitude: fc.double({ min: -90, max: 90, noNaN: true }),
        longitude: fc.double({ min: -180, max: 180, noNaN: true }),
      }),
      latencies: fc.dictionary(name, fc.double({ min: 1, max: 500, noNaN: true }), { maxKeys: 3 }),
      attributes: fc.dictionary(name, fc.oneof(fc.integer(), fc.boolean(), fc.string({ maxLength: 5 }), names), {
        maxKeys: 3,
      }),
      roles: names,
      avoid: names,
    },
    { requiredKeys: ['id', 'ip'] },
  )
  const input = fc.record(
    {
      id: fc.constant('t'),
      queues: fc.constantFrom(['duel'], ['both', 'also']),
      players: fc.uniqueArray(player, { selector: ({ id }) => id, minLength: 1, maxLength: 2 }),
      priority: fc.integer({ min: -100, max: 100 }),
    },
    { requiredKeys: ['id', 'queues', 'players'] },
  )
  const { check } = checker()
  fc.assert(
    fc.property(input, (given) => {
      // JSON and rules do not distinguish -0 from 0.
      expect(JSON.stringify(readBody('t', check(given).body))).toBe(JSON.stringify(readTicketInput(given)))
    }),
  )
})

test('the ticket checker allows a player one ticket, unless all queues of both tickets permit more', () => {
  const { check, permit } = checker()
  const inDuel = check({ queue: 'duel', players: [ann] })
  const inBoth = check({ queue: 'both', players: [ann] })
  const waits = (queue: string) => [{ playerId: 'ann', ticket: ticket('other', { queues: [queue] }) }]
  expect(() => permit(inDuel, waits('duel'))).toThrow(new PlayerBusy('ann', 'other'))
  expect(() => permit(inBoth, waits('duel'))).toThrow(PlayerBusy)
  expect(() => permit(inBoth, waits('both'))).toThrow(PlayerBusy)
  expect(() => permit(inBoth, waits('gone'))).toThrow(PlayerBusy)
  permit(inBoth, waits('also'))
  permit(inDuel, [{ playerId: 'ann', ticket: ticket('other', { status: 'CANCELLED' }) }])
})

test('a player in a match may queue only where all queues permit it, up to a number of matches', () => {
  const { check, permit } = checker()
  const inDuel = check({ queue: 'duel', players: [ann] })
  const inBoth = check({ queue: 'both', players: [ann] })
  const plays = (id: string) => ({
    playerId: 'ann',
    ticket: ticket(id, { status: 'HOST_ASSIGNED', matchId: `m${id}` }),
  })
  expect(() => permit(inDuel, [plays('1')])).toThrow(new PlayerPlaying('ann', '1', 'm1'))
  permit(inBoth, [plays('1')])
  expect(() => permit(inBoth, [plays('1'), plays('2')])).toThrow(new PlayerOverLimit('ann', 'maxMatchesPerPlayer'))
})

test('the ticket checker accepts a repeated id only for the same ticket', () => {
  const { check, assertSameTicket } = checker()
  const one = check({ id: 'a', queue: 'duel', players: [ann] })
  assertSameTicket(ticket('a', {}), one)
  expect(() => assertSameTicket(ticket('a', { queues: ['both'] }), one)).toThrow(InvalidTicket)
  expect(() => assertSameTicket(ticket('a', { players: [{ id: 'ben' }] }), one)).toThrow(InvalidTicket)
})

test('the ticket checker replaces all queues, or no queue if one of them is invalid', () => {
  const { check, reconfigure, queueNames, playerMayState } = checker()
  expect(() => reconfigure([{ ...duel, matchSize: -1 }])).toThrow(InvalidQueue)
  expect(queueNames()).toEqual(['duel', 'ranked', 'near', 'both', 'also'])
  reconfigure([{ ...ranked, name: 'solo' }])
  expect(() => check({ queue: 'duel', players: [ann] })).toThrow(UnknownQueue)
  expect(playerMayState('solo')?.('skill')).toBe(false)
  expect(playerMayState('duel')).toBeUndefined()
})
