import { PeerError } from '@muster/emulator/peer'
import type { LobbyView } from '@muster/relay'
import { describe, expect, test } from 'vitest'
import { eventually, openArcade as open } from './arcade.js'
import { exchange, hostBy, joinBy } from './playing.js'

describe.each(['specification', 'observed'] as const)('a relay session on a service in mode %s', (as) => {
  const openArcade = (given: Parameters<typeof open>[0] = {}) => open({ ...given, emulator: { ...given.emulator, as } })

  const ann = { id: 'ann', ip: '203.0.113.7' }
  /** A player with the same address as another one. */
  const ben = { id: 'ben', ip: '203.0.113.8' }
  const cleo = { id: 'cleo', ip: '203.0.113.8' }

  test('a relay session keeps three players playing while the host leaves, one is kicked and one returns', async () => {
    const { call, credentialsOf, hooks, emulator, shut } = await openArcade()
    const { lobbyId, code } = await call<LobbyView>(ann, 'POST', '/lobbies', {
      maxPlayers: 3,
      visibility: 'private',
      requireReady: false,
    })
    await call(ben, 'POST', '/lobbies/join', { code })
    await call(cleo, 'POST', '/lobbies/join', { code })
    await call(ann, 'POST', `/lobbies/${lobbyId}/start`)

    const first = {
      ann: await credentialsOf(ann, lobbyId),
      ben: await credentialsOf(ben, lobbyId),
      cleo: await credentialsOf(cleo, lobbyId),
    }
    expect(new Set(Object.values(first).map(({ userToken }) => userToken)).size).toBe(3)
    expect([first.ann.role, first.ben.role, first.cleo.role]).toEqual(['host', 'client', 'client'])
    expect(hooks.calls).toBe(1)
    const annPeer = await hostBy(first.ann, 'ann')
    const peers = [annPeer, await joinBy(first.ben), await joinBy(first.cleo)] as const
    await Promise.all([exchange(peers[1], 'ben', 'ann'), exchange(peers[2], 'cleo', 'ann')])

    await call(ann, 'DELETE', `/lobbies/${lobbyId}/me`)
    const second = { ben: await credentialsOf(ben, lobbyId, 2), cleo: await credentialsOf(cleo, lobbyId, 2) }
    expect(second.ben.role).toBe('host')
    expect(emulator.inspect().relaySessions.map(({ session_id }) => session_id)).toEqual([second.ben.sessionId])
    for (const peer of peers) peer.close()
    const benHost = await hostBy(second.ben, 'ben')
    const cleoPeer = await joinBy(second.cleo)
    await exchange(cleoPeer, 'cleo', 'ben')

    await call(ben, 'DELETE', `/lobbies/${lobbyId}/members/cleo`)
    await eventually('the end of her token', () => cleoPeer.state === 'invalid' || undefined)
    expect(() => cleoPeer.send(Buffer.from('still here'))).toThrow(PeerError)

    await call(cleo, 'POST', '/lobbies/join', { code })
    const third = await credentialsOf(cleo, lobbyId, 2)
    expect(third.userToken).not.toBe(second.cleo.userToken)
    const cleoBack = await joinBy(third)
    await exchange(cleoBack, 'cleo', 'ben')

    for (const peer of [benHost, cleoPeer, cleoBack]) peer.close()
    expect(await shut()).toEqual([])
  })
})
