import { InvalidInput } from '@muster/core'
import { describe, expect, test, vi } from 'vitest'
import { createRelaySessions } from '../sessions/sessions.js'
import { createLobbies } from './create-lobbies.js'
import type { LobbyMessage } from './lobbies.js'
import { createMemoryLobbyStore } from './memory-store.js'
import type { LobbyStore } from './store.js'
import { ann, bob, cleo, codeOf, failing, player, setUp, withThree } from './lobbies.fixture.js'

describe('the relay session of a lobby', () => {
  test('the relay session of a lobby is opened at the start, and every member gets their own credentials', async () => {
    const { service, start, credentials, tearDown } = await withThree()
    expect(service.opened).toBe(0)
    await start()
    const all = [await credentials('ann'), await credentials('bob'), await credentials('cleo')]
    expect(all.map(({ role }) => role)).toEqual(['host', 'client', 'client'])
    expect(new Set(all.map(({ userToken }) => userToken)).size).toBe(3)
    for (const { sessionToken, userToken } of all) expect(service.isValid(sessionToken, userToken)).toBe(true)
    expect(await tearDown()).toEqual([])
  })

  test('the relay session of a lobby authorizes later members and revokes the tokens of those who leave', async () => {
    const { clock, lobbies, lobbyId, code, service, start, credentials, tearDown } = await withThree()
    await start()
    await lobbies.join({ player: player('dora'), code })
    await clock.advance(1000)
    const dora = await credentials('dora')
    expect(service.isValid(dora.sessionToken, dora.userToken)).toBe(true)
    const cleos = await credentials('cleo')
    await lobbies.kick({ lobbyId, playerId: 'ann', targetId: 'dora' })
    await lobbies.leave({ lobbyId, playerId: 'cleo' })
    await clock.advance(1000)
    expect(service.isValid(dora.sessionToken, dora.userToken)).toBe(false)
    expect(service.isValid(cleos.sessionToken, cleos.userToken)).toBe(false)
    expect(service.opened).toBe(1)
    expect(await tearDown()).toEqual([])
  })

  test('a member whom the relay service refuses does not keep other members from their tokens', async () => {
    const { clock, lobbies, code, service, start, credentials, tearDown } = await withThree({}, { maxPlayers: 6 })
    await start()
    const authorizeUser = service.authorizeUser
    vi.spyOn(service, 'authorizeUser').mockImplementation(async (input) => {
      if (input.user_ip === '2001:db8::9') throw new InvalidInput('no such address', { status: 400 })
      return authorizeUser(input)
    })
    await lobbies.join({ player: player('eve', '2001:db8::9'), code })
    await clock.advance(5000)
    await lobbies.join({ player: player('dora'), code })
    await clock.advance(11_000)
    const dora = await credentials('dora')
    expect(service.isValid(dora.sessionToken, dora.userToken)).toBe(true)
    expect(await tearDown()).toEqual([])
  })

  test('only the host is told which member the relay service refuses, without the address', async () => {
    const { clock, lobbies, lobbyId, code, service, start, tearDown } = await withThree()
    await start()
    vi.spyOn(service, 'authorizeUser').mockRejectedValue(new InvalidInput('no address 2001:db8::9', { status: 400 }))
    const heard = (playerId: string) => {
      const messages: LobbyMessage[] = []
      const follow = async () => {
        for await (const message of lobbies.follow({ lobbyId, playerId })) messages.push(message)
      }
      void follow().catch(() => {})
      return messages
    }
    const [anns, bobs] = [heard('ann'), heard('bob')]
    await lobbies.join({ player: player('eve', '2001:db8::9'), code })
    await clock.advance(5000)
    const refused = expect.objectContaining({ type: 'relay.refused', playerId: 'eve' }) as unknown
    expect(anns).toContainEqual(refused)
    expect(bobs).not.toContainEqual(refused)
    expect(JSON.stringify([anns, bobs])).not.toContain('2001:db8')
    expect(await tearDown()).toEqual([])
  })

  test('a member whom the relay service refuses does not keep the others from their start', async () => {
    const { clock, lobbies, code, service, start, credentials, tearDown } = await withThree({}, { maxPlayers: 6 })
    const refused = '2001:db8::9'
    const { create, authorizeUser } = service
    vi.spyOn(service, 'create').mockImplementation(async (input, ...more) => {
      if (input.users?.some(({ ip }) => ip === refused)) throw new InvalidInput('no such address', { status: 400 })
      return create(input, ...more)
    })
    vi.spyOn(service, 'authorizeUser').mockImplementation(async (input) => {
      if (input.user_ip === refused) throw new InvalidInput('no such address', { status: 400 })
      return authorizeUser(input)
    })
    await lobbies.join({ player: player('eve', refused), code })
    await start()
    await clock.advance(11_000)
    const all = [await credentials('ann'), await credentials('bob'), await credentials('cleo')]
    expect(all.map(({ role }) => role)).toEqual(['host', 'client', 'client'])
    for (const { sessionToken, userToken } of all) expect(service.isValid(sessionToken, userToken)).toBe(true)
    expect(await tearDown()).toEqual([])
  })

  test('a refused relay member is tried again after five minutes, or at once at another address', async () => {
    const { clock, lobbies, lobbyId, code, service, start, credentials, tearDown } = await withThree()
    await start()
    const asked: string[] = []
    const authorizeUser = service.authorizeUser
    vi.spyOn(service, 'authorizeUser').mockImplementation(async (input) => {
      asked.push(String(input.user_ip))
      if (input.user_ip === '2001:db8::9') throw new InvalidInput('no such address', { status: 400 })
      return authorizeUser(input)
    })
    await lobbies.join({ player: player('eve', '2001:db8::9'), code })
    const present = async (seconds: number) => {
      for (let second = 0; second < seconds; second += 5) {
        await clock.advance(5000)
        for (const playerId of ['ann', 'bob', 'cleo', 'eve']) await lobbies.heartbeat({ lobbyId, playerId })
      }
    }
    await present(295)
    expect(asked).toEqual(['2001:db8::9'])
    await present(30)
    expect(asked).toHaveLength(2)
    // A new session of the lobby is created without this member, so that it is not refused.
    const creates = service.opened
    await lobbies.stop({ lobbyId, playerId: 'ann' })
    await lobbies.start({ lobbyId, playerId: 'ann' })
    await present(5)
    expect([service.opened - creates, asked.length]).toEqual([1, 2])
    expect(await credentials('bob')).toMatchObject({ role: 'client' })
    await lobbies.join({ player: player('eve', '192.0.2.99'), code })
    await present(5)
    expect(await credentials('eve')).toMatchObject({ role: 'client' })
    expect(await tearDown()).toEqual([])
  })

  test('a host whose members the relay service refuses again and again causes few relay requests', async () => {
    const { clock, lobbies, lobbyId, code, service, start, tearDown } = await withThree({}, { maxPlayers: 6 })
    const { create, authorizeUser } = service
    let requests = 0
    vi.spyOn(service, 'create').mockImplementation(async (input, ...more) => {
      requests += 1
      if (input.users?.some(({ ip }) => ip.startsWith('2001:')))
        throw new InvalidInput('no such address', { status: 400 })
      return create(input, ...more)
    })
    vi.spyOn(service, 'authorizeUser').mockImplementation(async (input) => {
      requests += 1
      if (input.user_ip.startsWith('2001:')) throw new InvalidInput('no such address', { status: 400 })
      return authorizeUser(input)
    })
    const reasons: unknown[] = []
    lobbies.events.on('happened', (event) => event.type === 'run.failed' && reasons.push(event.reason))
    for (let nth = 1; nth <= 6; nth += 1) {
      await lobbies.join({ player: player('eve', `2001:db8::${nth}`), code })
      await start()
      const { phase } = await lobbies.get({ lobbyId, playerId: 'ann' })
      if (phase === 'running') await lobbies.stop({ lobbyId, playerId: 'ann' })
      await clock.advance(1000)
    }
    expect(reasons).toEqual(Array(3).fill('InvalidInput: the relay service refuses a member'))
    expect(requests).toBeLessThanOrEqual(3 * 5 + 3)
    expect(await tearDown()).toEqual([])
  })

  test('a start whose host the relay service refuses fails with a reason that names the host', async () => {
    const { clock, lobbies, lobbyId, service, start, tearDown } = await withThree()
    vi.spyOn(service, 'create').mockRejectedValue(new InvalidInput('no such address: 203.0.113.1', { status: 400 }))
    await start()
    await clock.advance(2000)
    expect(await lobbies.get({ lobbyId, playerId: 'bob' })).toMatchObject({ phase: 'open' })
    const reasons = []
    for await (const message of lobbies.follow({ lobbyId, playerId: 'bob', after: 0 })) {
      if (message.type !== 'run.failed') continue
      reasons.push(message.reason)
      break
    }
    expect(reasons).toEqual(['InvalidInput: the relay service refuses the host'])
    expect(await tearDown()).toEqual([])
  })

  test('the relay session of a lobby outlives maxLifetimeMs, even while a member is being authorized', async () => {
    const { clock, service } = setUp()
    const relay = createRelaySessions({ client: service, clock, maxLifetimeMs: 60_000 })
    const lobbies = createLobbies({ relay, clock })
    const { lobbyId, code } = await lobbies.create({ player: ann, maxPlayers: 4 })
    await lobbies.start({ lobbyId, playerId: 'ann' })
    const present = async (seconds: number) => {
      for (let second = 0; second < seconds; second += 5) {
        await clock.advance(5000)
        await lobbies.heartbeat({ lobbyId, playerId: 'ann' })
      }
    }
    await present(100)
    const authorizeUser = service.authorizeUser
    vi.spyOn(service, 'authorizeUser').mockImplementation(async (input) => {
      await clock.sleep(12_000)
      return authorizeUser(input)
    })
    await lobbies.join({ player: bob, code })
    await present(30)
    expect(service.open).toEqual(['session-1'])
    expect(await lobbies.get({ lobbyId, playerId: 'ann' })).toMatchObject({ run: { term: 1, status: 'relayed' } })
  })

  test('when the host leaves, a new relay session replaces the old one, which is deleted', async () => {
    const { clock, lobbies, lobbyId, service, start, credentials, tearDown } = await withThree()
    await start()
    const before = await credentials('ann')
    await lobbies.leave({ lobbyId, playerId: 'ann' })
    await clock.advance(100)
    expect(service.isValid(before.sessionToken, before.userToken)).toBe(false)
    await clock.advance(2000)
    expect(await lobbies.get({ lobbyId, playerId: 'bob' })).toMatchObject({
      hostId: 'bob',
      run: { term: 2, status: 'relayed', credentials: { role: 'host' } },
    })
    expect((await credentials('cleo')).sessionId).not.toBe(before.sessionId)
    expect(service.open).toHaveLength(1)
    expect(await tearDown()).toEqual([])
  })

  test('a lobby member who returns to the same slot gets a new relay token', async () => {
    const { clock, lobbies, lobbyId, code, service, start, credentials } = await withThree()
    await start()
    const before = await credentials('cleo')
    const beat = async (seconds: number, ...ids: string[]) => {
      for (let second = 0; second < seconds; second += 5) {
        for (const playerId of ids) await lobbies.heartbeat({ lobbyId, playerId })
        await clock.advance(5000)
      }
    }
    await beat(40, 'ann', 'bob')
    expect(service.isValid(before.sessionToken, before.userToken)).toBe(false)
    expect(codeOf(await failing(lobbies.heartbeat({ lobbyId, playerId: 'cleo' })))).toBe('away')
    await beat(60, 'ann', 'bob')
    expect(await lobbies.join({ player: cleo, code })).toMatchObject({
      lobby: { members: [{}, {}, { playerId: 'cleo', slot: 2, present: true }] },
    })
    await clock.advance(1000)
    const after = await credentials('cleo')
    expect(after.sessionId).toBe(before.sessionId)
    expect(after.userToken).not.toBe(before.userToken)
    expect(service.isValid(after.sessionToken, after.userToken)).toBe(true)
  })

  test('a relay session is replaced if a token cannot be revoked', async () => {
    const { clock, lobbies, lobbyId, service, start, credentials } = await withThree({
      service: { faults: [{ operation: 'revokeUser', fault: 'success without effect' }] },
    })
    await start()
    const before = await credentials('bob')
    await lobbies.kick({ lobbyId, playerId: 'ann', targetId: 'bob' })
    await clock.advance(5000)
    expect(service.isValid(before.sessionToken, before.userToken)).toBe(false)
    expect(service.open).toHaveLength(1)
    expect((await lobbies.get({ lobbyId, playerId: 'ann' })).run).toMatchObject({ term: 2, status: 'relayed' })
  })

  test('a relay session that the service no longer knows is replaced when a member joins', async () => {
    const { clock, lobbies, code, service, start, credentials } = await withThree()
    await start()
    const before = await credentials('ann')
    await service.delete({ session_id: before.sessionId })
    await lobbies.join({ player: player('dora'), code })
    await clock.advance(5000)
    for (const id of ['ann', 'dora']) {
      const { sessionToken, userToken } = await credentials(id)
      expect(service.isValid(sessionToken, userToken)).toBe(true)
    }
  })

  test('a relay session ends when the host stops it, and its delete is repeated until confirmed', async () => {
    const { clock, lobbies, lobbyId, service, start } = await withThree({
      service: { faults: [{ operation: 'delete', fault: 'request lost', times: 3 }] },
    })
    await start()
    await lobbies.stop({ lobbyId, playerId: 'ann' })
    expect(service.open).toHaveLength(1)
    await clock.advance(10_000)
    expect(service.open).toEqual([])
  })

  test('a relay session is kept if a write that seemed to fail has stored it, else deleted as an orphan', async () => {
    for (const isStored of [true, false]) {
      const memory = createMemoryLobbyStore()
      const broken = { left: 1 }
      const store: LobbyStore = {
        ...memory,
        replace: async (...args) => {
          if (args[0].run?.status !== 'relayed' || broken.left === 0) return memory.replace(...args)
          broken.left -= 1
          if (isStored) await memory.replace(...args)
          throw new Error('the store does not answer')
        },
      }
      const { clock, lobbies, lobbyId, service, credentials, start, tearDown } = await withThree({ store })
      await start()
      for (let second = 0; second < 240; second += 5) {
        for (const playerId of ['ann', 'bob', 'cleo']) await lobbies.heartbeat({ lobbyId, playerId })
        await clock.advance(5000)
      }
      const { sessionId, sessionToken, userToken } = await credentials('ann')
      expect(service.opened).toBe(isStored ? 1 : 2)
      expect(service.open).toEqual([sessionId])
      expect(service.isValid(sessionToken, userToken)).toBe(true)
      expect(await tearDown()).toEqual([])
    }
  })
})
