import { describe, expect, test } from 'vitest'
import { InvalidTicket } from '../errors.js'
import type { TicketInput } from './ticket.js'
import { readTicketInput } from './ticket-input.js'

const ann = { id: 'ann', ip: '192.0.2.1' }
const ticket: TicketInput = { queue: 'duel', players: [ann] }

test('addresses of players are read into their canonical form', () => {
  const players = [
    { id: 'a', ip: '::FFFF:192.0.2.1' },
    { id: 'b', ip: '2001:DB8:0::1' },
  ]
  expect(readTicketInput({ ...ticket, players }).players.map(({ ip }) => ip)).toEqual(['192.0.2.1', '2001:db8::1'])
})

describe('an invalid ticket', () => {
  test.each<[object, string]>([
    [{ id: 'a b' }, 'ticket: id: must be 1 to 64 of A–Z, a–z, 0–9, _ and -, got "a b"'],
    [{ id: '' }, 'ticket: id: '],
    [{ queue: 7 }, 'ticket: queue: '],
    [{ players: [] }, 'ticket: players: '],
    [{ players: [{ ...ann, id: '' }] }, 'ticket: players.0.id: '],
    [{ players: [{ ...ann, id: '__proto__' }] }, 'ticket: players.0.id: must not be __proto__'],
    [{ players: [{ ...ann, id: 'a\ud800' }] }, 'ticket: players.0.id: must'],
    [{ players: [{ ...ann, attributes: { map: '\udc00' } }] }, 'ticket: players.0.attributes.map: must be'],
    [{ players: [{ ...ann, avoid: ['\ud800'] }] }, 'ticket: players.0.avoid.0: must be well-formed Unicode'],
    [{ players: [{ id: 'ann' }] }, 'ticket: players.0: must have ip, coordinates or both'],
    [{ players: [ann, ann] }, 'ticket: players.1.id: is in this ticket twice, got "ann"'],
    [
      { players: [{ id: 'ann', coordinates: { latitude: 91, longitude: 0 } }] },
      'ticket: players.0.coordinates.latitude: ',
    ],
    [
      { players: [{ id: 'ann', coordinates: { latitude: NaN, longitude: 0 } }] },
      'ticket: players.0.coordinates.latitude: ',
    ],
    [{ skill: 3 }, 'ticket: skill: is not known'],
  ])('an invalid ticket is refused with the path: %j', (wrong, message) => {
    expect(() => readTicketInput({ ...ticket, ...wrong })).toThrow(InvalidTicket)
    expect(() => readTicketInput({ ...ticket, ...wrong })).toThrow(message)
  })

  test.each(['1.2.3', 'example.com', '999.1.1.1', ''])(
    'a ticket with an invalid address is refused without showing it: %j',
    (ip) => {
      const create = () => readTicketInput({ ...ticket, players: [{ id: 'ann', ip }] })
      expect(create).toThrow(/^ticket: players\.0\.ip: must be an IPv4 or IPv6 address$/)
    },
  )
})

test('a ticket with a duplicate in a list attribute is refused with this reason', () => {
  const read = () => readTicketInput({ queue: 'duel', players: [{ id: 'ann', attributes: { maps: ['ice', 'ice'] } }] })
  expect(read).toThrow('players.0.attributes.maps: must not list anything twice')
})
