import { describe, expect, test } from 'vitest'
import { ann, bob, cleo, codeOf, failing, player, setUp, withThree } from './lobbies.fixture.js'

const unlimited = { createsPerPlayer: null, joinsPerPlayer: null, joinsPerAddress: null }

describe('the limit of lobbies per player', () => {
  test('a player can be in 5 lobbies by default, counting every way to join and concurrent joins', async () => {
    const { lobbies } = setUp({ limits: unlimited })
    const open = await lobbies.create({ player: bob, maxPlayers: 8 })
    const mine = await Promise.all(
      Array.from({ length: 6 }, () => lobbies.create({ player: ann, maxPlayers: 8 }).catch((error: unknown) => error)),
    )
    expect(mine.filter((one) => one instanceof Error).map(codeOf)).toEqual(['too-many-lobbies'])
    for (const way of [{ code: open.code }, { lobbyId: open.lobbyId }]) {
      expect(codeOf(await failing(lobbies.join({ player: ann, ...way })))).toBe('too-many-lobbies')
    }
    const [first] = mine as { readonly lobbyId: string }[]
    expect(await lobbies.join({ player: ann, lobbyId: first?.lobbyId })).toMatchObject({ status: 'joined' })
    await lobbies.leave({ lobbyId: first?.lobbyId ?? '', playerId: 'ann' })
    expect(await lobbies.join({ player: ann, code: open.code })).toMatchObject({ status: 'joined' })
  })

  test('an applicant who is in too many lobbies by now is not admitted, and waits until they leave one', async () => {
    const { lobbies } = setUp({ limits: { ...unlimited, lobbiesPerPlayer: 2 } })
    const asked = await Promise.all(
      ['bob', 'cleo', 'dora'].map((id) => lobbies.create({ player: player(id), maxPlayers: 4, approval: true })),
    )
    for (const { lobbyId } of asked) await lobbies.join({ player: ann, lobbyId })
    const approve = (hostId: string | null) => {
      const lobbyId = asked.find((one) => one.hostId === hostId)?.lobbyId ?? ''
      return lobbies.decide({ lobbyId, playerId: hostId ?? '', applicantId: 'ann', approve: true })
    }
    const outcomes = await Promise.all(asked.map(({ hostId }) => approve(hostId).then(() => 'admitted', codeOf)))
    expect(outcomes).toEqual(['admitted', 'admitted', 'too-many-lobbies'])
    // Nobody else learns that she is in too many lobbies.
    const { lobbyId } = await lobbies.create({ player: player('eve'), maxPlayers: 4, approval: true })
    const asking = { lobbyId, playerId: 'eve', applicantId: 'ann', approve: true }
    expect(codeOf(await failing(lobbies.decide(asking)))).toBe('no-such-player')
    await lobbies.leave({ lobbyId: asked[0]?.lobbyId ?? '', playerId: 'ann' })
    expect(await approve('dora')).toMatchObject({ applicants: [] })
    expect(await lobbies.ofPlayer('ann')).toHaveLength(2)
  })

  test('lobbiesPerPlayer: null turns off the limit of lobbies per player', async () => {
    const { lobbies } = setUp({ limits: { ...unlimited, lobbiesPerPlayer: null } })
    for (let count = 0; count < 12; count += 1) await lobbies.create({ player: ann, maxPlayers: 8 })
    expect((await lobbies.list({ limit: 100 })).lobbies).toHaveLength(12)
  })
})

describe('the limit of relay sessions per player', () => {
  const sessionsPerPlayer = { limit: 2, windowMs: 60_000 }

  test('the limit of relay sessions per player counts restarts', async () => {
    const { lobbies, lobbyId, start, clock, tearDown } = await withThree({ limits: { sessionsPerPlayer } })
    for (let count = 0; count < 2; count += 1) {
      await start()
      await lobbies.stop({ lobbyId, playerId: 'ann' })
    }
    expect(await failing(lobbies.start({ lobbyId, playerId: 'ann' }))).toMatchObject({
      code: 'too-many-attempts',
      retryAfterMs: expect.closeTo(26_000, -3),
    })
    await clock.advance(26_000)
    await start()
    expect(await tearDown()).toEqual([])
  })

  test('the limit of relay sessions per player counts host changes by handover and by leaving', async () => {
    const { lobbies, lobbyId, start, clock, tearDown } = await withThree({ limits: { sessionsPerPlayer } })
    await start()
    await lobbies.transferHost({ lobbyId, playerId: 'ann', targetId: 'bob' })
    await clock.advance(3000)
    await lobbies.transferHost({ lobbyId, playerId: 'bob', targetId: 'ann' })
    await clock.advance(3000)
    expect(codeOf(await failing(lobbies.transferHost({ lobbyId, playerId: 'ann', targetId: 'bob' })))).toBe(
      'too-many-attempts',
    )
    // A player can leave at any time.
    await lobbies.leave({ lobbyId, playerId: 'ann' })
    await clock.advance(3000)
    expect(await lobbies.get({ lobbyId, playerId: 'bob' })).toMatchObject({ hostId: 'bob', run: { status: 'relayed' } })
    expect(await tearDown()).toEqual([])
  })
})

describe('the limit of relay sessions of all players', () => {
  const sessionsOverall = { limit: 2, windowMs: 600_000 }

  test('many accounts cannot start more relay sessions than all players together may', async () => {
    const { lobbies, clock, service, tearDown } = setUp({ limits: { sessionsOverall } })
    const startOf = async (nth: number) => {
      const host = player(`host-${nth}`)
      const { lobbyId } = await lobbies.create({ player: host, maxPlayers: 2, requireReady: false })
      await lobbies.join({ player: player(`guest-${nth}`), lobbyId })
      const failed = await failing(lobbies.start({ lobbyId, playerId: host.id }))
      await clock.advance(1000)
      return codeOf(failed)
    }
    const outcomes: unknown[] = []
    for (let nth = 0; nth < 4; nth += 1) outcomes.push(await startOf(nth))
    expect(outcomes).toEqual(['no error', 'no error', 'too-many-attempts', 'too-many-attempts'])
    expect(service.calls.create).toBe(2)
    await clock.advance(1_300_000)
    expect(await startOf(4)).toBe('no error')
    expect(await tearDown()).toEqual([])
  })

  test('a host who is away is replaced, and the new relay session counts for all players', async () => {
    const { lobbies, lobbyId, start, clock, tearDown } = await withThree({ limits: { sessionsOverall } })
    await start()
    for (let seconds = 0; seconds < 40; seconds += 10) {
      await clock.advance(10_000)
      for (const playerId of ['bob', 'cleo']) await lobbies.heartbeat({ lobbyId, playerId })
    }
    const { hostId } = await lobbies.get({ lobbyId, playerId: 'bob' })
    expect(hostId).not.toBe('ann')
    const targetId = hostId === 'bob' ? 'cleo' : 'bob'
    const failed = await failing(lobbies.transferHost({ lobbyId, playerId: hostId ?? '', targetId }))
    expect(codeOf(failed)).toBe('too-many-attempts')
    expect(await tearDown()).toEqual([])
  })
})

describe('the limit of new seats per player', () => {
  const seatingsPerPlayer = { limit: 2, windowMs: 60_000 }

  test('the limit of new seats per player counts changes of the address', async () => {
    const { lobbies, lobbyId, start, clock, service, tearDown } = await withThree({ limits: { seatingsPerPlayer } })
    await start()
    const move = (last: number) => failing(lobbies.join({ player: player('cleo', `198.51.100.${last}`), lobbyId }))
    const outcomes: unknown[] = []
    const before = service.calls.authorizeUser
    for (let last = 10; last < 20; last += 1) {
      outcomes.push(codeOf(await move(last)))
      await clock.advance(2000)
    }
    expect(outcomes).toEqual(['no error', 'no error', ...Array.from({ length: 8 }, () => 'too-many-attempts')])
    expect(service.calls.authorizeUser - before).toBe(2)
    // Returning with the same address costs nothing.
    expect(codeOf(await move(11))).toBe('no error')
    expect(await tearDown()).toEqual([])
  })

  test('the limit of new seats per player counts leaving and joining again', async () => {
    const { lobbies, lobbyId, code, start, clock, tearDown } = await withThree({ limits: { seatingsPerPlayer } })
    await start()
    const outcomes: unknown[] = []
    for (let count = 0; count < 4; count += 1) {
      await lobbies.leave({ lobbyId, playerId: 'cleo' }).catch(() => {})
      outcomes.push(codeOf(await failing(lobbies.join({ player: cleo, code }))))
      await clock.advance(2000)
    }
    expect(outcomes).toEqual(['no error', 'no error', 'too-many-attempts', 'too-many-attempts'])
    expect(await tearDown()).toEqual([])
  })

  test('the limit of new seats per player does not count joins before the start or refused joins', async () => {
    const { lobbies, lobbyId, start, tearDown } = await withThree({ limits: { seatingsPerPlayer } }, { maxPlayers: 3 })
    for (let last = 0; last < 5; last += 1)
      await lobbies.join({ player: player('cleo', `198.51.100.${last}`), lobbyId })
    await start()
    for (let count = 0; count < 5; count += 1) {
      expect(codeOf(await failing(lobbies.join({ player: player('dora'), lobbyId })))).toBe('not-joinable')
    }
    expect(await tearDown()).toEqual([])
  })
})

describe('applicants of a lobby', () => {
  const asking = { maxPlayers: 4, approval: true }

  test('applicants of a lobby are not blocked by denied applicants', async () => {
    const { lobbies, clock } = setUp({ limits: { ...unlimited, seatingsPerPlayer: null } })
    const { lobbyId } = await lobbies.create({ player: ann, ...asking })
    for (let count = 0; count < 100; count += 1) {
      const applicantId = `eve-${count}`
      await lobbies.join({ player: player(applicantId, `198.51.100.${count}`), lobbyId })
      await lobbies.decide({ lobbyId, playerId: 'ann', applicantId, approve: false })
    }
    expect(codeOf(await failing(lobbies.join({ player: player('eve-99', '198.51.100.99'), lobbyId })))).toBe(
      'not-joinable',
    )
    expect(await lobbies.join({ player: bob, lobbyId })).toMatchObject({ status: 'waiting' })
    await clock.advance(0)
    expect((await lobbies.get({ lobbyId, playerId: 'ann' })).applicants).toEqual(['bob'])
  })

  test('a lobby has at most 8 applicants per address', async () => {
    const { lobbies } = setUp({ limits: unlimited })
    const { lobbyId } = await lobbies.create({ player: ann, ...asking })
    const ask = (id: string, ip: string) =>
      lobbies.join({ player: player(id, ip), lobbyId }).then(({ status }) => status, codeOf)
    const outcomes: unknown[] = []
    for (let count = 0; count < 10; count += 1) outcomes.push(await ask(`eve-${count}`, `2001:db8::${count + 1}`))
    expect(outcomes).toEqual([...Array.from({ length: 8 }, () => 'waiting'), 'not-joinable', 'not-joinable'])
    expect(await ask('bob', '2001:db8:0:1::1')).toBe('waiting')
  })
})
