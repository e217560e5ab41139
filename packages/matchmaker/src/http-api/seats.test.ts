import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Ticket } from '../tickets/ticket.js'
import { parseSeatId, seatId, seatOf } from './ticket-views.js'

const ticketOf = (...players: string[]): Ticket => ({
  id: 'abc',
  version: 1,
  queues: ['duel'],
  players: players.map((id) => ({ id })),
  priority: 0,
  status: 'SEARCHING',
  createdAt: 0,
  attempts: 0,
})

test('each player of a party has a ticket id that resolves to the seat of this player only', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 500 }), fc.nat(499), (size, at) => {
      const ticket = ticketOf(...Array.from({ length: size }, (_, index) => `p${index}`))
      const index = at % size
      const { ticketId, index: parsed } = parseSeatId(seatId({ ticket, index }))
      expect(ticketId).toBe('abc')
      expect(seatOf(ticket, parsed, (id) => id === `p${index}`)?.index).toBe(index)
      expect(seatOf(ticket, parsed, () => false)).toBeUndefined()
    }),
  )
})

test.each(['abc.', 'abc.-1', 'abc.01', 'abc.2', 'abc.x', 'abc.0.0', 'abc.1e0', 'abc.1000'])(
  '%s is not the seat id of a party of two',
  (id) => {
    const { ticketId, index } = parseSeatId(id)
    expect([ticketId, seatOf(ticketOf('ann', 'bob'), index, undefined)]).toEqual(['abc', undefined])
  },
)

test('a ticket of one player has no separate seat ids', () => {
  expect(seatOf(ticketOf('ann'), 0, isAnn)).toBeUndefined()
  expect(seatOf(ticketOf('ann'), undefined, isAnn)?.index).toBe(0)
})

function isAnn(id: string): boolean {
  return id === 'ann'
}
