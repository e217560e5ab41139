import { createPeer } from '@muster/emulator/peer'
import type { Fault } from '@muster/emulator'
import type { LobbyView } from '@muster/relay'
import { expect, test } from 'vitest'
import { openArcade } from './arcade.js'

const operations = [
  'relays.create',
  'relays.get',
  'relays.list',
  'relays.delete',
  'relays.authorizeUser',
  'relays.revokeUser',
] as const
const lostAnswers = (probability: number): Fault[] =>
  operations.flatMap((operation) => [
    { operation, probability, drop: 'before' as const },
    { operation, probability, drop: 'after' as const },
    { operation, probability, status: 500, effect: true },
  ])

const unlimited = { joinsPerPlayer: null, joinsPerAddress: null, joinsOverall: null, createsPerPlayer: null }

test('with answers lost before and after their effect, every lobby starts, every token is right, and nothing is left', async () => {
  const { emulator, lobbies, credentialsOf, shut } = await openArcade({
    emulator: { faults: [...lostAnswers(0.03), { operation: 'relays.create', probability: 0.05, relay: 'no tokens' }] },
    sessions: { pollMs: 100, readyTimeoutMs: 1500 },
    lobbies: { limits: unlimited },
  })
  const play = async (number: number) => {
    // All in one house, but the host.
    const members = ['host', 'b', 'c', 'd'].map((name, index) => ({
      id: `${name}-${number}`,
      ip: index === 0 ? '203.0.113.1' : '203.0.113.2',
    }))
    const [host, second, third, late] = members as [
      (typeof members)[0],
      (typeof members)[0],
      (typeof members)[0],
      (typeof members)[0],
    ]
    const { lobbyId, code } = await lobbies.create({ player: host, maxPlayers: 4, requireReady: false })
    for (const player of [second, third]) await lobbies.join({ player, code })
    await lobbies.start({ lobbyId, playerId: host.id })
    await credentialsOf(host, lobbyId)
    await lobbies.join({ player: late, code })
    await lobbies.leave({ lobbyId, playerId: third.id })
    const all = await Promise.all(
      [host, second, late].map(async (player) => ({ player, ...(await credentialsOf(player, lobbyId)) })),
    )
    return { lobbyId, all }
  }
  const played = await Promise.all(Array.from({ length: 30 }, (_, number) => play(number)))

  const tokens = played.flatMap(({ all }) => all.map(({ userToken }) => userToken))
  expect(new Set(tokens).size).toBe(90)
  for (const { all } of played) expect(all.map(({ role }) => role)).toEqual(['host', 'client', 'client'])
  // The relay itself says whether a token is right.
  for (const { all } of played.slice(0, 5)) {
    for (const { role, host, port, userToken, sessionToken } of all) {
      const peer =
        role === 'host'
          ? createPeer({ role, host, port, userToken, sessionToken })
          : createPeer({ role, host, port, userToken, sessionToken })
      await peer.connect()
      expect(peer.state).toBe('valid')
      peer.close()
    }
  }
  expect(Object.values(emulator.counters.rejected)).toEqual([])
  emulator.faults.clear()
  expect(await shut()).toEqual([])
}, 60_000)

test('a session that is never ready is given up, and the lobby can be started again', async () => {
  const { emulator, lobbies, call, credentialsOf, shut } = await openArcade({ sessions: { pollMs: 50, readyTimeoutMs: 300 } })
  const withdraw = emulator.faults.add({ operation: 'relays.create', relay: 'never ready' })
  const ann = { id: 'ann', ip: '203.0.113.1' }
  const { lobbyId, cursor } = await call<LobbyView>(ann, 'POST', '/lobbies', { maxPlayers: 2 })
  await call(ann, 'POST', `/lobbies/${lobbyId}/start`)
  const seen: string[] = []
  for await (const message of lobbies.follow({ lobbyId, playerId: 'ann', after: cursor })) {
    seen.push(message.type)
    if (message.type === 'run.failed') break
  }
  expect(seen).toEqual(['lobby.starting', 'run.failed'])
  expect(emulator.inspect().relaySessions).toEqual([])
  withdraw()
  await call(ann, 'POST', `/lobbies/${lobbyId}/start`)
  expect((await credentialsOf(ann, lobbyId)).role).toBe('host')
  expect(await shut()).toEqual([])
})
