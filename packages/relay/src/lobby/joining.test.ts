import { describe, expect, test } from 'vitest'
import type { LobbyRefused } from '../errors.js'
import { CODE_ALPHABET } from './code.js'
import { ann, bob, codeOf, failing, player, setUp } from './lobbies.fixture.js'

describe('codes', () => {
  test('have 8 letters, 10 in private lobbies, of 20 that are not mistaken', async () => {
    const { lobbies } = setUp()
    const { code } = await lobbies.create({ player: ann, maxPlayers: 2 })
    const hidden = await lobbies.create({ player: ann, maxPlayers: 2, visibility: 'private' })
    expect(new Set(CODE_ALPHABET).size).toBe(20)
    expect(code).toMatch(/^[B-DF-HJ-NP-TV-XZ]{8}$/)
    expect(hidden.code).toMatch(/^[B-DF-HJ-NP-TV-XZ]{10}$/)
  })

  test('are read as people type them', async () => {
    const { lobbies } = setUp()
    const { code } = await lobbies.create({ player: ann, maxPlayers: 2 })
    const typed = ` ${code.slice(0, 4).toLowerCase()}-${code.slice(4)} `
    expect(await lobbies.join({ player: bob, code: typed })).toMatchObject({ status: 'joined', lobby: { code } })
  })

  test('one that is taken is drawn again', async () => {
    let draws = 0
    // The same code twice, and different ids.
    const randomInt = (max: number) => (max === 20 ? (draws++ < 16 ? 3 : 5) : draws % max)
    const { lobbies } = setUp({ randomInt })
    const first = await lobbies.create({ player: ann, maxPlayers: 2 })
    draws += 1
    const second = await lobbies.create({ player: bob, maxPlayers: 2 })
    expect(first.code).not.toBe(second.code)
  })

  test('wrong, full, private, closed to one or not one at all: the refusal is the same', async () => {
    const { lobbies } = setUp({ limits: { joinsPerPlayer: null, joinsPerAddress: null } })
    const full = await lobbies.create({ player: ann, maxPlayers: 1 })
    const hidden = await lobbies.create({ player: ann, maxPlayers: 4, visibility: 'private' })
    const guarded = await lobbies.create({ player: ann, maxPlayers: 4, password: 'sesame' })
    const banning = await lobbies.create({ player: ann, maxPlayers: 4 })
    await lobbies.kick({ lobbyId: banning.lobbyId, playerId: 'ann', targetId: 'bob', ban: true })
    const refusals = await Promise.all(
      [
        { code: 'BCDFGHJK' },
        { code: 'no code' },
        { code: full.code },
        { lobbyId: 'nobody' },
        { lobbyId: hidden.lobbyId },
        { code: guarded.code },
        { code: guarded.code, password: 'simsalabim' },
        { code: 'BCDFGHJK', password: 'sesame' },
        { code: banning.code },
      ].map((way) => failing(lobbies.join({ player: bob, ...way }))),
    )
    expect(new Set(refusals.map((error) => JSON.stringify(error))).size).toBe(1)
    expect(codeOf(refusals[0])).toBe('not-joinable')
    expect(await lobbies.join({ player: bob, code: guarded.code, password: 'sesame' })).toMatchObject({ status: 'joined' })
    expect(await lobbies.join({ player: bob, code: hidden.code })).toMatchObject({ status: 'joined' })
  })

  test('attempts that fail are limited per player, per address and overall; those that succeed are not', async () => {
    const { clock, lobbies } = setUp({
      limits: {
        joinsPerPlayer: { limit: 3, windowMs: 60_000 },
        joinsPerAddress: { limit: 5, windowMs: 60_000 },
        joinsOverall: { limit: 7, windowMs: 60_000 },
      },
    })
    const { code } = await lobbies.create({ player: ann, maxPlayers: 8 })
    const guess = async (id: string, ip: string) => codeOf(await failing(lobbies.join({ player: { id, ip }, code: 'BCDFGHJK' })))
    for (let count = 0; count < 10; count += 1) await lobbies.join({ player: player('bob'), code })
    const guesses: unknown[] = []
    for (let count = 0; count < 4; count += 1) guesses.push(await guess('bob', '192.0.2.1'))
    for (let count = 0; count < 3; count += 1) guesses.push(await guess(`same-address-${count}`, '192.0.2.1'))
    for (let count = 0; count < 3; count += 1) guesses.push(await guess(`other-address-${count}`, `198.51.100.${count}`))
    const no = 'not-joinable'
    const stop = 'too-many-attempts'
    expect(guesses).toEqual([no, no, no, stop, no, no, stop, no, no, stop])
    const error = await failing(lobbies.join({ player: player('dora', '203.0.113.1'), code }))
    expect(codeOf(error)).toBe(stop)
    expect((error as LobbyRefused).retryAfterMs).toBeCloseTo(60_000 / 7, 1)
    await clock.advance(60_000 / 7)
    expect(await lobbies.join({ player: player('dora', '203.0.113.1'), code })).toMatchObject({ status: 'joined' })
  })

  test('overall, those who succeed are never limited, however many join at the same moment; guesses at the same moment are owed for', async () => {
    const { clock, lobbies } = setUp({ limits: { joinsOverall: { limit: 2, windowMs: 60_000 } } })
    const { code } = await lobbies.create({ player: ann, maxPlayers: 16 })
    const all = Array.from({ length: 10 }, (_, index) => player(`player-${index}`, `192.0.2.${index}`))
    const joined = await Promise.all(all.map((one) => lobbies.join({ player: one, code })))
    expect(joined.every(({ status }) => status === 'joined')).toBe(true)

    const guessers = Array.from({ length: 10 }, (_, index) => player(`guesser-${index}`, `198.51.100.${index}`))
    const guesses = await Promise.all(guessers.map((one) => failing(lobbies.join({ player: one, code: 'BCDFGHJK' }))))
    expect(guesses.map(codeOf)).toEqual(Array.from({ length: 10 }, () => 'not-joinable'))
    await clock.advance(8 * 30_000)
    const later = await lobbies.create({ player: ann, maxPlayers: 2 })
    expect(codeOf(await failing(lobbies.join({ player: bob, code: later.code })))).toBe('too-many-attempts')
    await clock.advance(30_000)
    expect(await lobbies.join({ player: bob, code: later.code })).toMatchObject({ status: 'joined' })
  })

  test('per player and address what is under way counts: nobody tries all at once', async () => {
    const { lobbies } = setUp({ limits: { joinsPerPlayer: { limit: 3, windowMs: 60_000 } } })
    const guesses = await Promise.all(Array.from({ length: 5 }, () => failing(lobbies.join({ player: bob, code: 'BCDFGHJK' }))))
    expect(guesses.map(codeOf).filter((refusal) => refusal === 'not-joinable')).toHaveLength(3)
  })

  test('whoever is in, and comes back, guesses nothing, and is not limited', async () => {
    const { clock, lobbies } = setUp({ limits: { joinsOverall: { limit: 2, windowMs: 3_600_000 } } })
    const { code, lobbyId } = await lobbies.create({ player: ann, maxPlayers: 4 })
    await lobbies.join({ player: bob, code })
    for (let count = 0; count < 2; count += 1) await failing(lobbies.join({ player: player('eve'), code: 'BCDFGHJK' }))
    await clock.advance(31_000)
    expect(await lobbies.join({ player: ann, lobbyId })).toMatchObject({ status: 'joined' })
    expect(await lobbies.join({ player: bob, code })).toMatchObject({ status: 'joined' })
    for (const way of [{ code }, { lobbyId }, { code: 'BCDFGHJK' }]) {
      expect(codeOf(await failing(lobbies.join({ player: player('dora'), ...way })))).toBe('too-many-attempts')
    }
  })

  test('an address of IPv6 is its /64: whoever has one has all of it', async () => {
    const { lobbies } = setUp({ limits: { joinsPerAddress: { limit: 2, windowMs: 60_000 } } })
    const guess = async (ip: string) => codeOf(await failing(lobbies.join({ player: { id: ip, ip }, code: 'BCDFGHJK' })))
    expect(await guess('2001:db8::1')).toBe('not-joinable')
    expect(await guess('2001:db8::ffff:0:1')).toBe('not-joinable')
    expect(await guess('2001:db8:0:0:abcd::1')).toBe('too-many-attempts')
    expect(await guess('2001:db8:0:1::1')).toBe('not-joinable')
    expect(await guess('::ffff:192.0.2.1')).toBe('not-joinable')
    expect(await guess('192.0.2.1')).toBe('not-joinable')
    expect(await guess('192.0.2.1')).toBe('too-many-attempts')
  })
})
