import { describe, expect, test } from 'vitest'
import type { LobbyRefused } from '../errors.js'
import { ann, bob, codeOf, failing, player, setUp } from './lobbies.fixture.js'

describe('codes of lobbies', () => {
  test('lobby codes are accepted in any spelling that people type', async () => {
    const { lobbies } = setUp()
    const { code } = await lobbies.create({ player: ann, maxPlayers: 2 })
    const typed = ` ${code.slice(0, 4).toLowerCase()}-${code.slice(4)} `
    expect(await lobbies.join({ player: bob, code: typed })).toMatchObject({ status: 'joined', lobby: { code } })
  })

  test('lobby codes are drawn again if they are in use', async () => {
    let draws = 0
    // Returns the same code twice, but different ids.
    const randomInt = (max: number) => (max === 20 ? (draws++ < 16 ? 3 : 5) : draws % max)
    const { lobbies } = setUp({ randomInt })
    const first = await lobbies.create({ player: ann, maxPlayers: 2 })
    draws += 1
    const second = await lobbies.create({ player: bob, maxPlayers: 2 })
    expect(first.code).not.toBe(second.code)
  })

  test('only wrong lobby codes count against the limits per player, per address and overall', async () => {
    const { clock, lobbies } = setUp({
      limits: {
        joinsPerPlayer: { limit: 3, windowMs: 60_000 },
        joinsPerAddress: { limit: 5, windowMs: 60_000 },
        joinsOverall: { limit: 7, windowMs: 60_000 },
      },
    })
    const { code } = await lobbies.create({ player: ann, maxPlayers: 8 })
    const guess = async (id: string, ip: string) =>
      codeOf(await failing(lobbies.join({ player: { id, ip }, code: 'BCDFGHJK' })))
    for (let count = 0; count < 10; count += 1) await lobbies.join({ player: player('bob'), code })
    const guesses: unknown[] = []
    for (let count = 0; count < 4; count += 1) guesses.push(await guess('bob', '192.0.2.1'))
    for (let count = 0; count < 3; count += 1) guesses.push(await guess(`same-address-${count}`, '192.0.2.1'))
    for (let count = 0; count < 3; count += 1)
      guesses.push(await guess(`other-address-${count}`, `198.51.100.${count}`))
    const no = 'not-joinable'
    const stop = 'too-many-attempts'
    expect(guesses).toEqual([no, no, no, stop, no, no, stop, no, no, stop])
    const error = await failing(lobbies.join({ player: player('dora', '203.0.113.1'), code }))
    expect(codeOf(error)).toBe(stop)
    expect((error as LobbyRefused).retryAfterMs).toBeCloseTo(60_000 / 7, 1)
    await clock.advance(60_000 / 7)
    expect(await lobbies.join({ player: player('dora', '203.0.113.1'), code })).toMatchObject({ status: 'joined' })
  })

  test('successful lobby joins count against no limit, and ten wrong codes at once block joins for 90 s', async () => {
    const { clock, lobbies } = setUp({ limits: { joinsOverall: { limit: 2, windowMs: 60_000 } } })
    const { code } = await lobbies.create({ player: ann, maxPlayers: 16 })
    const all = Array.from({ length: 10 }, (_, index) => player(`player-${index}`, `192.0.2.${index}`))
    const joined = await Promise.all(all.map((one) => lobbies.join({ player: one, code })))
    expect(joined.every(({ status }) => status === 'joined')).toBe(true)

    const guessers = Array.from({ length: 10 }, (_, index) => player(`guesser-${index}`, `198.51.100.${index}`))
    const guesses = await Promise.all(
      guessers.map((one) => failing(lobbies.join({ player: one, code: 'BCDFGHJK', password: 'x' }))),
    )
    expect(guesses.map(codeOf)).toEqual(Array.from({ length: 10 }, () => 'not-joinable'))
    await clock.advance(2 * 30_000)
    const later = await lobbies.create({ player: ann, maxPlayers: 2 })
    expect(codeOf(await failing(lobbies.join({ player: bob, code: later.code })))).toBe('too-many-attempts')
    await clock.advance(30_000)
    expect(await lobbies.join({ player: bob, code: later.code })).toMatchObject({ status: 'joined' })
  })

  test('guesses of lobby codes are limited per player, including attempts in progress', async () => {
    const { lobbies } = setUp({ limits: { joinsPerPlayer: { limit: 3, windowMs: 60_000 } } })
    const guesses = await Promise.all(
      Array.from({ length: 5 }, () => failing(lobbies.join({ player: bob, code: 'BCDFGHJK' }))),
    )
    expect(guesses.map(codeOf).toSorted()).toEqual([
      ...Array.from({ length: 3 }, () => 'not-joinable'),
      ...Array.from({ length: 2 }, () => 'too-many-attempts'),
    ])
  })

  test('a returning member can use lobby codes without limit', async () => {
    const { clock, lobbies } = setUp({ limits: { joinsOverall: { limit: 2, windowMs: 3_600_000 } } })
    const { code, lobbyId } = await lobbies.create({ player: ann, maxPlayers: 4 })
    await lobbies.join({ player: bob, code })
    for (let count = 0; count < 2; count += 1) await failing(lobbies.join({ player: player('eve'), code: 'BCDFGHJK' }))
    await clock.advance(31_000)
    expect(await lobbies.join({ player: ann, lobbyId })).toMatchObject({ status: 'joined' })
    expect(await lobbies.join({ player: bob, code })).toMatchObject({ status: 'joined' })
    for (const way of [{ code }, { code: 'BCDFGHJK' }]) {
      expect(codeOf(await failing(lobbies.join({ player: player('dora'), ...way })))).toBe('too-many-attempts')
    }
    // Wrong guesses at other lobbies do not affect a join without a code or password.
    expect(await lobbies.join({ player: player('dora'), lobbyId })).toMatchObject({ status: 'joined' })
  })

  test('guesses of lobby codes are limited per IPv6 /64', async () => {
    const { lobbies } = setUp({ limits: { joinsPerAddress: { limit: 2, windowMs: 60_000 } } })
    const guess = async (ip: string) =>
      codeOf(await failing(lobbies.join({ player: { id: ip, ip }, code: 'BCDFGHJK' })))
    expect(await guess('2001:db8::1')).toBe('not-joinable')
    expect(await guess('2001:db8::ffff:0:1')).toBe('not-joinable')
    expect(await guess('2001:db8:0:0:abcd::1')).toBe('too-many-attempts')
    expect(await guess('2001:db8:0:1::1')).toBe('not-joinable')
    expect(await guess('::ffff:192.0.2.1')).toBe('not-joinable')
    expect(await guess('192.0.2.1')).toBe('not-joinable')
    expect(await guess('192.0.2.1')).toBe('too-many-attempts')
  })
})

describe('the charge for wrong codes and passwords', () => {
  const one = { limit: 1, windowMs: 60_000 }
  const limits = { joinsPerPlayer: one, joinsPerAddress: one, joinsOverall: one, lobbiesPerPlayer: null }

  test('a join of a lobby that is full, private, ended, closed or needs a password is not charged', async () => {
    const { lobbies } = setUp({ limits })
    const full = await lobbies.create({ player: ann, maxPlayers: 1 })
    const hidden = await lobbies.create({ player: ann, maxPlayers: 4, visibility: 'private' })
    const guarded = await lobbies.create({ player: ann, maxPlayers: 4, password: 'sesame' })
    const banning = await lobbies.create({ player: ann, maxPlayers: 4 })
    await lobbies.kick({ lobbyId: banning.lobbyId, playerId: 'ann', targetId: 'bob', ban: true })
    const ways = [
      { lobbyId: full.lobbyId },
      { code: full.code },
      { lobbyId: hidden.lobbyId },
      { lobbyId: 'gone' },
      { lobbyId: 'gone', password: 'x' },
      { code: guarded.code },
      { lobbyId: guarded.lobbyId },
      { code: banning.code },
      { code: full.code, password: 'x' },
    ]
    for (const way of [...ways, ...ways])
      expect(codeOf(await failing(lobbies.join({ player: bob, ...way })))).toBe('not-joinable')
    expect(await lobbies.join({ player: bob, code: guarded.code, password: 'sesame' })).toMatchObject({
      status: 'joined',
    })
  })

  test.each([
    ['code', () => ({ code: 'BCDFGHJK' })],
    ['code format', () => ({ code: 'x' })],
    ['password, by code', (guarded: { code: string }) => ({ code: guarded.code, password: 'x' })],
    ['password, by id', (guarded: { lobbyId: string }) => ({ lobbyId: guarded.lobbyId, password: 'x' })],
  ])('a join with a wrong %s is charged one attempt', async (_, way) => {
    const { lobbies } = setUp({ limits })
    const guarded = await lobbies.create({ player: ann, maxPlayers: 4, password: 'sesame' })
    const outcomes = [
      await failing(lobbies.join({ player: bob, ...way(guarded) })),
      await failing(lobbies.join({ player: bob, ...way(guarded) })),
    ]
    expect(outcomes.map(codeOf)).toEqual(['not-joinable', 'too-many-attempts'])
  })

  test('a join of a returning member is not charged, and needs no password digest', async () => {
    const { lobbies } = setUp({ limits })
    const { lobbyId } = await lobbies.create({ player: ann, maxPlayers: 4, password: 'sesame' })
    // The digest is computed on another thread. A join without a password ends before the next turn of the event loop.
    let isDone = false
    void lobbies.join({ player: ann, lobbyId, password: 'wrong' }).then(() => (isDone = true))
    for (let turn = 0; turn < 100 && !isDone; turn += 1) await Promise.resolve()
    expect(isDone).toBe(true)
  })
})
