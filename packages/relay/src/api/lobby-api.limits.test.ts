import { describe, expect, test } from 'vitest'
import { setUp } from '../lobby/lobbies.fixture.js'
import { createLobbyApi } from './lobby-api.js'
import { serve } from './lobby-api.fixture.js'

describe('the limits of the lobby API', () => {
  test('the lobby API limits the requests of a caller', async () => {
    const { call } = await serve({ limits: { perCaller: { limit: 3, windowMs: 1000 } } })
    const statuses: number[] = []
    for (let count = 0; count < 4; count += 1) statuses.push((await call('ann', 'GET', '/lobbies')).status)
    expect(statuses).toEqual([200, 200, 200, 429])
  })

  test('the lobby API limits the list requests of a caller separately from other requests', async () => {
    const { call } = await serve({ limits: { listsPerCaller: { limit: 2, windowMs: 1000 } } })
    const statuses: number[] = []
    for (const who of ['ann', 'ann', 'ann', 'bob']) statuses.push((await call(who, 'GET', '/lobbies')).status)
    expect(statuses).toEqual([200, 200, 429, 200])
    expect((await call('ann', 'POST', '/lobbies', { maxPlayers: 2 })).status).toBe(201)
    const usual = await serve()
    for (let count = 0; count < 20; count += 1) expect((await usual.call('ann', 'GET', '/lobbies')).status).toBe(200)
    expect((await usual.call('ann', 'GET', '/lobbies')).status).toBe(429)
  })

  test('the lobby API limits all open streams and the bytes of a body', async () => {
    const { call, request } = await serve({ limits: { streams: 1, bodyBytes: 100 } })
    const lobby = await call('ann', 'POST', '/lobbies', { maxPlayers: 2 })
    const { lobbyId } = lobby.json as unknown as { readonly lobbyId: string }
    const stream = await request('ann', 'GET', `/lobbies/${lobbyId}/events`, undefined, { accept: 'text/event-stream' })
    expect((await call('bob', 'POST', `/lobbies/${lobbyId}/join`)).status).toBe(200)
    expect((await call('bob', 'GET', `/lobbies/${lobbyId}/events?wait=1`)).status).toBe(503)
    await stream.body?.cancel()
    expect((await call('ann', 'PATCH', `/lobbies/${lobbyId}`, { data: { text: 'x'.repeat(100) } })).status).toBe(413)
  })

  test.each([
    [{ perCaller: { limit: 0, windowMs: 1 } }, 'limits perCaller.limit'],
    [{ streams: 0 }, 'limits streams'],
    [{ bodies: { timeoutMs: -1 } }, 'limits bodies.timeoutMs'],
    [{ perPlayer: null }, 'limits perPlayer'],
  ])('the lobby API refuses wrong limits by name: %j', (limits, named) => {
    expect(() => createLobbyApi(setUp().lobbies, { authenticate: () => undefined, limits: limits as never })).toThrow(
      named,
    )
  })
})
