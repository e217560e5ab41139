import type { MatchEnd } from '@muster/matchmaker'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeHeader, encodeHeader, readPrefix, type StoredTicketState } from './header.js'

const name = fc.string({ minLength: 1, maxLength: 128, unit: 'binary' })
const id = fc.stringMatching(/^[\w-]{1,64}$/)
const at = fc.nat()
const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })

const common = {
  version: fc.integer({ min: 1, max: 1e9 }),
  attempts: fc.nat(100),
  queue: some(name),
  team: some(name),
  matchedAt: some(at),
  assignedAt: some(at),
  cancelledAt: some(at),
  cancelReason: some(fc.constantFrom('cancelled' as const, 'expired' as const, 'elsewhere' as const)),
}
const none = fc.constant(undefined)
const states: fc.Arbitrary<StoredTicketState> = fc.oneof(
  fc.record({
    ...common,
    status: fc.constant('SEARCHING' as const),
    waitingFor: some(fc.constantFrom('players' as const, 'location' as const, 'servers' as const)),
    matchId: some(id),
    acceptance: none,
    assignment: none,
  }),
  fc.record({
    ...common,
    status: fc.constant('MATCH_FOUND' as const),
    waitingFor: none,
    matchId: id,
    acceptance: some(fc.record({ until: at, accepted: fc.array(name) })),
    assignment: none,
  }),
  fc.record({
    ...common,
    status: fc.constant('HOST_ASSIGNED' as const),
    waitingFor: none,
    matchId: id,
    acceptance: none,
    left: some(fc.array(name)),
    ended: some(fc.record({ reason: fc.constantFrom<MatchEnd>('match-over', 'server-lost', 'nobody-joined'), at })),
    assignment: some(
      fc.record(
        { fqdn: name, publicIp: some(fc.ipV4()), ports: fc.constant({}), location: none },
        { noNullPrototype: true },
      ),
    ),
  }),
  fc.record({
    ...common,
    status: fc.constant('CANCELLED' as const),
    waitingFor: none,
    matchId: some(id),
    acceptance: none,
    assignment: none,
  }),
)

describe('the header of a ticket', () => {
  test('the header of a ticket is decoded to the same state that was encoded', () => {
    fc.assert(fc.property(states, (state) => void expect(decodeHeader(encodeHeader(state))).toEqual(state)))
  })

  test('the header of a ticket has state, version and match in its first line', () => {
    fc.assert(
      fc.property(states, (state) => {
        const header = encodeHeader(state)
        expect(readPrefix(header)).toEqual({ letter: letterOf(state), version: state.version, matchId: state.matchId })
        // Scripts treat everything up to the first line feed as the prefix.
        expect(header.split('\n')).toHaveLength(state.assignment === undefined ? 2 : 3)
      }),
    )
  })

  test('the header of a ticket contains nothing that its body contains', () => {
    const body = { id: 't1', queues: ['ranked'], players: [{ id: 'ann' }], priority: 7, createdAt: 5 }
    const status = 'MATCH_FOUND'
    const ticket = {
      ...body,
      version: 2,
      status,
      attempts: 0,
      matchId: 'm1',
      queue: 'ranked',
      team: 'red',
      matchedAt: 9,
    } as const
    expect(encodeHeader(ticket)).toBe('M2 m1\n{"attempts":0,"queue":"ranked","team":"red","matchedAt":9}')
  })

  test('a ticket has no header while nothing has changed', () => {
    expect(decodeHeader(undefined)).toEqual({ version: 1, status: 'SEARCHING', waitingFor: 'players', attempts: 0 })
  })

  test('the decoded header of a cancelled ticket leaves out the stored acceptance', () => {
    const header =
      'C3 m1\n{"attempts":1,"acceptance":{"until":5,"accepted":[]},"cancelledAt":6,"cancelReason":"cancelled"}'
    const state = {
      version: 3,
      status: 'CANCELLED',
      attempts: 1,
      matchId: 'm1',
      cancelledAt: 6,
      cancelReason: 'cancelled',
    }
    expect(decodeHeader(header)).toEqual(state)
  })

  test.each(['', 'X1\n{}', 'S\n{}', 'S0\n{}', 'M2 \n{}', '{"status":"SEARCHING"}'])(
    'the invalid ticket header %j is refused, and the error does not show it',
    (text) => {
      expect(() => readPrefix(text)).toThrow(
        /^the stored header of a ticket is damaged: it does not begin with a state and a version$/,
      )
    },
  )
})

const letterOf = ({ status }: StoredTicketState) =>
  ({ SEARCHING: 'S', MATCH_FOUND: 'M', HOST_ASSIGNED: 'A', CANCELLED: 'C' })[status]
