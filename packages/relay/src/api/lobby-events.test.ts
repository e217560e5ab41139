import { describe, expect, test } from 'vitest'
import { serve } from './lobby-api.fixture.js'

describe('the events of a lobby', () => {
  /** Reads a stream of events until it ends or `count` events were read. */
  async function read(response: Response, count = Infinity): Promise<{ id: string; event: string; data: never }[]> {
    const events: { id: string; event: string; data: never }[] = []
    let text = ''
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += new TextDecoder().decode(chunk)
      const parts = text.split('\n\n')
      text = parts.pop() ?? ''
      for (const part of parts) {
        const fields = Object.fromEntries(
          part.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
        )
        if (fields['event'] !== undefined)
          events.push({
            id: fields['id'] as string,
            event: fields['event'],
            data: JSON.parse(fields['data'] as string) as never,
          })
      }
      if (events.length >= count) break
    }
    return events
  }
  const accept = { accept: 'text/event-stream' }

  test('the events of a lobby can be read by long poll', async () => {
    const { clock, call, lobby } = await serve()
    const { lobbyId, code, cursor } = await lobby()
    expect((await call('ann', 'GET', `/lobbies/${lobbyId}/events`)).json).toMatchObject({
      messages: [{ type: 'snapshot' }],
      cursor,
    })
    expect((await call('ann', 'GET', `/lobbies/${lobbyId}/events?after=${cursor}`)).json).toEqual({
      messages: [],
      cursor,
      over: false,
    })
    const waiting = call('ann', 'GET', `/lobbies/${lobbyId}/events?after=${cursor}&wait=25`)
    await call('bob', 'POST', '/lobbies/join', { code })
    expect((await waiting).json).toMatchObject({
      messages: [{ type: 'member.joined', playerId: 'bob' }],
      cursor: cursor + 1,
    })
    await clock.advance(0)
    expect((await call('ann', 'GET', `/lobbies/${lobbyId}/events?wait=31`)).status).toBe(400)
  })

  test('the events of a lobby can be streamed and resumed after Last-Event-ID, until the lobby ends', async () => {
    const { clock, request, call, lobby } = await serve()
    const { lobbyId, code } = await lobby()
    const first = read(await request('ann', 'GET', `/lobbies/${lobbyId}/events`, undefined, accept), 2)
    await call('bob', 'POST', '/lobbies/join', { code })
    const seen = await first
    expect(seen.map(({ event }) => event)).toEqual(['snapshot', 'member.joined'])
    await call('bob', 'PUT', `/lobbies/${lobbyId}/me/ready`, { ready: true })
    const resumed = read(
      await request('ann', 'GET', `/lobbies/${lobbyId}/events`, undefined, {
        ...accept,
        'last-event-id': seen[1]?.id as string,
      }),
    )
    await call('ann', 'POST', `/lobbies/${lobbyId}/start`)
    await clock.advance(2000)
    await call('ann', 'DELETE', `/lobbies/${lobbyId}`)
    const rest = await resumed
    expect(rest.map(({ event }) => event)).toEqual([
      'member.ready',
      'lobby.starting',
      'relay.ready',
      'run.ended',
      'lobby.closed',
    ])
    expect(rest[2]?.data).toMatchObject({ credentials: { role: 'host' } })
    expect(
      (await request('ann', 'GET', `/lobbies/${lobbyId}/events?after=${rest.at(-1)?.id}`, undefined, accept)).status,
    ).toBe(204)
  })

  test('a ninth reader of one member for the events of a lobby ends the oldest reader of that member', async () => {
    const { request, call, lobby, clock } = await serve()
    const { lobbyId, code, cursor } = await lobby()
    const path = `/lobbies/${lobbyId}/events?after=${cursor}`
    const polling = call('ann', 'GET', `${path}&wait=25`)
    const streams: Promise<unknown[]>[] = []
    for (let count = 0; count < 8; count += 1)
      streams.push(read(await request('ann', 'GET', path, undefined, accept), 2))
    expect(await polling).toMatchObject({ status: 409, json: { code: 'superseded' } })
    await call('bob', 'POST', '/lobbies/join', { code })
    await call('bob', 'PUT', `/lobbies/${lobbyId}/me/ready`, { ready: true })
    for (const events of await Promise.all(streams)) expect(events).toHaveLength(2)
    await clock.advance(0)
  })

  test('lobby events are refused with a problem document, not with a broken stream', async () => {
    const { request, lobby } = await serve()
    const { lobbyId } = await lobby()
    const response = await request('eve', 'GET', `/lobbies/${lobbyId}/events`, undefined, accept)
    expect([response.status, response.headers.get('content-type')]).toEqual([404, 'application/problem+json'])
    await response.text()
  })
})
