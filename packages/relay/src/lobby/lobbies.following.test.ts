import { describe, expect, test } from 'vitest'
import type { LobbyMessage } from './lobbies.js'
import { codeOf, failing, player, withThree } from './lobbies.fixture.js'

describe('following a lobby', () => {
  const collect = (follower: AsyncIterable<LobbyMessage>) => {
    const messages: LobbyMessage[] = []
    const outcome = { ended: false, error: undefined as unknown }
    const run = async () => {
      for await (const message of follower) messages.push(message)
    }
    void run().then(
      () => (outcome.ended = true),
      (error: unknown) => (outcome.error = error),
    )
    return { messages, outcome, types: () => messages.map(({ type }) => type) }
  }

  test('following a lobby begins with a snapshot, continues with events, and ends with the lobby', async () => {
    const { clock, lobbies, lobbyId, start } = await withThree()
    const bobs = collect(lobbies.follow({ lobbyId, playerId: 'bob' }))
    await clock.advance(0)
    await start()
    await lobbies.end({ lobbyId, playerId: 'ann' })
    await clock.advance(100)
    expect(bobs.types()).toEqual(['snapshot', 'lobby.starting', 'relay.ready', 'run.ended', 'lobby.closed'])
    expect(bobs.outcome.ended).toBe(true)
  })

  test('following a lobby gives each member only their own credentials', async () => {
    const { clock, lobbies, lobbyId, code, start, credentials } = await withThree()
    const followers = {
      ann: collect(lobbies.follow({ lobbyId, playerId: 'ann' })),
      bob: collect(lobbies.follow({ lobbyId, playerId: 'bob' })),
    }
    await clock.advance(0)
    await start()
    const tokens = { ann: (await credentials('ann')).userToken, bob: (await credentials('bob')).userToken }
    await lobbies.join({ player: player('dora'), code })
    const doras = collect(lobbies.follow({ lobbyId, playerId: 'dora' }))
    await clock.advance(1000)
    expect(followers.ann.messages).toContainEqual(
      expect.objectContaining({ type: 'relay.ready', term: 1, credentials: await credentials('ann') }),
    )
    expect(JSON.stringify(followers.ann.messages)).not.toContain(String(tokens.bob))
    expect(JSON.stringify(followers.bob.messages)).not.toContain(String(tokens.ann))
    expect(doras.messages.at(-1)).toMatchObject({ type: 'relay.credentials', credentials: await credentials('dora') })
    expect(followers.bob.types()).not.toContain('relay.credentials')
    expect(JSON.stringify([followers, doras])).not.toMatch(/192\.0\.2|198\.51/)
  })

  test('following a lobby gives credentials only for the latest of several starts and handovers', async () => {
    const { clock, lobbies, lobbyId, start, credentials } = await withThree()
    await start()
    await lobbies.transferHost({ lobbyId, playerId: 'ann', targetId: 'cleo' })
    await clock.advance(2000)
    const { messages } = await lobbies.poll({ lobbyId, playerId: 'bob', after: 0, waitMs: 0 })
    expect(messages.filter(({ type }) => type === 'relay.ready')).toEqual([
      { type: 'relay.ready', term: 1, seq: expect.any(Number), at: expect.any(Number) },
      {
        type: 'relay.ready',
        term: 2,
        seq: expect.any(Number),
        at: expect.any(Number),
        credentials: await credentials('bob'),
      },
    ])
  })

  test('following a lobby resumes after a cursor, or with a snapshot if too many events were missed', async () => {
    const { clock, lobbies, lobbyId } = await withThree()
    const { cursor } = await lobbies.get({ lobbyId, playerId: 'bob' })
    await lobbies.setReady({ lobbyId, playerId: 'bob', ready: true })
    await lobbies.setReady({ lobbyId, playerId: 'bob', ready: false })
    const again = collect(lobbies.follow({ lobbyId, playerId: 'bob', after: cursor + 1 }))
    await clock.advance(0)
    expect(again.messages).toMatchObject([{ type: 'member.ready', seq: cursor + 2, ready: false }])
    for (let count = 0; count < 80; count += 1)
      await lobbies.setReady({ lobbyId, playerId: 'cleo', ready: count % 2 === 0 })
    const late = collect(lobbies.follow({ lobbyId, playerId: 'bob', after: cursor }))
    const ahead = collect(lobbies.follow({ lobbyId, playerId: 'bob', after: 100_000 }))
    await clock.advance(0)
    expect(late.types()).toEqual(['snapshot'])
    expect(ahead.types()).toEqual(['snapshot'])
  })

  test('following a lobby counts as a heartbeat', async () => {
    const { clock, lobbies, lobbyId } = await withThree()
    const leaving = new AbortController()
    const bobs = collect(lobbies.follow({ lobbyId, playerId: 'bob', signal: leaving.signal }))
    await clock.advance(120_000)
    expect((await lobbies.get({ lobbyId, playerId: 'bob' })).members.map(({ present }) => present)).toEqual([
      false,
      true,
      false,
    ])
    leaving.abort(new Error('gone'))
    await clock.advance(60_000)
    expect(bobs.outcome.error).toEqual(new Error('gone'))
    expect((await lobbies.get({ lobbyId, playerId: 'bob' })).members.at(-1)?.present).toBe(false)
  })

  test('following a lobby ends with the event that removes the member', async () => {
    const { clock, lobbies, lobbyId } = await withThree()
    const bobs = collect(lobbies.follow({ lobbyId, playerId: 'bob' }))
    await clock.advance(0)
    await lobbies.kick({ lobbyId, playerId: 'ann', targetId: 'bob' })
    await lobbies.setData({ lobbyId, playerId: 'ann', changes: { map: 'ice' } })
    await clock.advance(0)
    expect(bobs.messages.slice(1)).toMatchObject([{ type: 'you.left', reason: 'kicked' }])
    expect(bobs.outcome.ended).toBe(true)
    expect(codeOf(await failing(lobbies.follow({ lobbyId, playerId: 'bob' }).next()))).toBe('no-such-lobby')
    expect(codeOf(await failing(lobbies.follow({ lobbyId, playerId: 'eve', after: 0 }).next()))).toBe('no-such-lobby')
  })

  test('polling a lobby returns at once if there are events, else at the next event or after its wait', async () => {
    const { clock, lobbies, lobbyId } = await withThree()
    const { cursor } = await lobbies.get({ lobbyId, playerId: 'bob' })
    const began = clock.now()
    const empty = lobbies.poll({ lobbyId, playerId: 'bob', after: cursor, waitMs: 25_000 })
    await clock.advance(12_500)
    for (const playerId of ['ann', 'cleo']) await lobbies.heartbeat({ lobbyId, playerId })
    await clock.advance(12_500)
    expect(await empty).toEqual({ messages: [], cursor, over: false })
    expect(clock.now() - began).toBe(25_000)
    const waiting = lobbies.poll({ lobbyId, playerId: 'bob', after: cursor, waitMs: 25_000 })
    await clock.advance(5000)
    await lobbies.setReady({ lobbyId, playerId: 'bob', ready: true })
    expect(await waiting).toMatchObject({ messages: [{ type: 'member.ready' }], cursor: cursor + 1 })
  })
})
