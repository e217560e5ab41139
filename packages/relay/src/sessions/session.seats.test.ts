import fc from 'fast-check'
import { expect, test } from 'vitest'
import { freeTokens, seatPlayers } from './session.js'

const ip = fc.constantFrom('192.0.2.1', '192.0.2.2', '2001:db8::1')
const token = fc.integer({ min: 0, max: 0xffff_ffff })

test('two players at one address get two relay tokens', () => {
  const players = [
    { id: 'a', ip: '192.0.2.1' },
    { id: 'b', ip: '192.0.2.1' },
    { id: 'c', ip: '192.0.2.2' },
  ]
  const users = [
    { ip: '192.0.2.1', token: 3500589645 },
    { ip: '192.0.2.2', token: 7 },
    { ip: '192.0.2.1', token: 9 },
  ]
  expect(seatPlayers(players, users)).toEqual({
    seats: [
      { id: 'a', ip: '192.0.2.1', token: 9 },
      { id: 'b', ip: '192.0.2.1', token: 3500589645 },
      { id: 'c', ip: '192.0.2.2', token: 7 },
    ],
    missing: [],
  })
})

test('a player without a relay token is missing, and gets no token of another player', () => {
  const players = [
    { id: 'a', ip: '192.0.2.1' },
    { id: 'b', ip: '192.0.2.1' },
  ]
  expect(
    seatPlayers(players, [
      { ip: '192.0.2.1', token: 5 },
      { ip: '192.0.2.9', token: 6 },
    ]),
  ).toEqual({
    seats: [{ id: 'a', ip: '192.0.2.1', token: 5 }],
    missing: [{ id: 'b', ip: '192.0.2.1' }],
  })
})

test('a relay token listed twice counts once, and a token listed for two addresses is given to no player', () => {
  expect(
    freeTokens(
      '192.0.2.1',
      [
        { ip: '192.0.2.1', token: 5 },
        { ip: '192.0.2.1', token: 5 },
      ],
      new Set(),
    ),
  ).toEqual([5])
  expect(
    freeTokens(
      '192.0.2.1',
      [
        { ip: '192.0.2.1', token: 5 },
        { ip: '192.0.2.2', token: 5 },
      ],
      new Set(),
    ),
  ).toEqual([])
})

test('relay users in any order give each player the right address and a distinct token, at every read', () => {
  fc.assert(
    fc.property(
      fc.array(ip, { minLength: 1, maxLength: 64 }),
      fc.uniqueArray(token, { minLength: 64, maxLength: 64 }),
      fc.infiniteStream(fc.nat()),
      (ips, tokens, order) => {
        const players = ips.map((address, index) => ({ id: `player-${index}`, ip: address }))
        const users = ips.map((address, index) => ({ ip: address, token: tokens[index] as number }))
        const keys = [...order.take(users.length)]
        const shuffled = users
          .map((user, index) => ({ user, key: keys[index] as number }))
          .toSorted((a, b) => a.key - b.key)
        const { seats, missing } = seatPlayers(
          players,
          shuffled.map(({ user }) => user),
        )
        expect(missing).toEqual([])
        expect(new Set(seats.map((seat) => seat.token)).size).toBe(players.length)
        for (const seat of seats) expect(users).toContainEqual({ ip: seat.ip, token: seat.token })
        expect(seatPlayers(players, users)).toEqual({ seats, missing })
      },
    ),
    { numRuns: 200 },
  )
})
