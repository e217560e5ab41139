import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Ticket } from '../tickets/ticket.js'
import { ticketText } from './ticket-text.js'
import { ticketView } from './views.js'

const odd = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.constantFrom('', '"', '\\', '\u2028', '\uD800', '\u007F', 'é', 'a"b', '__proto__'),
)
const name = fc.oneof({ weight: 2, arbitrary: fc.stringMatching(/^[\w-]{1,8}$/) }, odd)
const seldom = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 6 })

const ticket: fc.Arbitrary<Ticket> = fc.record({
  id: name,
  version: fc.nat(),
  queues: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom<string[]>(['duel'], ['ranked "5v5"']) },
    fc.array(name, { maxLength: 3 }),
  ),
  players: fc.oneof(
    { weight: 4, arbitrary: fc.tuple(fc.record({ id: name })) },
    fc.array(fc.record({ id: name }), { maxLength: 3 }),
  ),
  priority: fc.integer(),
  status: fc.oneof(
    { weight: 9, arbitrary: fc.constant<Ticket['status']>('SEARCHING') },
    fc.constantFrom<Ticket['status']>('MATCH_FOUND', 'HOST_ASSIGNED', 'CANCELLED'),
  ),
  createdAt: fc.oneof(fc.constantFrom(0, 1_700_000_000_000), fc.double({ min: 0, max: 4e12, noNaN: true })),
  waitingFor: fc.option(fc.constantFrom<NonNullable<Ticket['waitingFor']>>('players', 'other-ticket'), {
    nil: undefined,
  }),
  attempts: fc.nat(),
  matchId: seldom(name),
  queue: seldom(name),
  team: seldom(name),
  acceptance: seldom(fc.record({ until: fc.nat(), accepted: fc.array(name) })),
  cancelReason: seldom(fc.constantFrom<NonNullable<Ticket['cancelReason']>>('expired', 'absent')),
  assignment: seldom(
    fc.constant<NonNullable<Ticket['assignment']>>({ requestId: 'r', fqdn: 'a.example', ports: {} } as never),
  ),
})
const estimate = fc.option(
  fc.record({ p50Ms: fc.nat(), p90Ms: fc.option(fc.nat(), { nil: undefined }) }),
  { nil: undefined },
)

test('a ticket is written as the JSON of its view', () => {
  const reached = { searching: 0, odd: 0 }
  fc.assert(
    fc.property(fc.array(ticket, { minLength: 1, maxLength: 3 }), fc.nat(3), estimate, (tickets, index, wait) => {
      const estimating = { estimateWait: () => wait as never }
      for (const one of tickets) {
        const view = JSON.stringify(ticketView({ ticket: one, index }, estimating))
        reached[one.status === 'SEARCHING' ? 'searching' : 'odd'] += 1
        expect(ticketText({ ticket: one, index }, estimating)).toBe(view)
      }
    }),
    { numRuns: 500 },
  )
  expect(Math.min(...Object.values(reached))).toBeGreaterThan(50)
})
