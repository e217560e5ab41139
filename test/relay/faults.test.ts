import type { Fault } from '@muster/emulator'
import { expect, test } from 'vitest'
import { openArcade } from './arcade.js'
import { hostBy, joinBy } from './playing.js'

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

test('with lost answers all relay lobbies start with the right tokens, and nothing is left behind', async () => {
  const { emulator, lobbies, credentialsOf, shut } = await openArcade({
    emulator: { faults: [...lostAnswers(0.03), { operation: 'relays.create', probability: 0.05, relay: 'no tokens' }] },
    sessions: { pollMs: 100, readyTimeoutMs: 1500 },
    lobbies: { limits: unlimited },
  })
  const hosts = new Map<string, string>()
  // Restart the lobby as a host would: two sessions in a row may lack tokens.
  lobbies.events.on('happened', (event) => {
    if (event.type === 'run.failed')
      void lobbies.start({ lobbyId: event.lobbyId, playerId: hosts.get(event.lobbyId) ?? '' })
  })
  const play = async (number: number) => {
    // All members but the host have the same address.
    const members = ['host', 'b', 'c', 'd'].map((name, index) => ({
      id: `${name}-${number}`,
      ip: index === 0 ? '203.0.113.1' : '203.0.113.2',
    }))
    type Member = (typeof members)[0]
    const [host, second, third, late] = members as [Member, Member, Member, Member]
    const { lobbyId, code } = await lobbies.create({ player: host, maxPlayers: 4, requireReady: false })
    hosts.set(lobbyId, host.id)
    for (const player of [second, third]) await lobbies.join({ player, code })
    await lobbies.start({ lobbyId, playerId: host.id })
    await credentialsOf(host, lobbyId)
    await lobbies.join({ player: late, code })
    await lobbies.leave({ lobbyId, playerId: third.id })
    const players = [host, second, late]
    for (const player of players) await credentialsOf(player, lobbyId)
    return { lobbyId, players }
  }
  const lobbiesPlayed = await Promise.all(Array.from({ length: 30 }, (_, number) => play(number)))
  // If a token could not be revoked, the session was replaced meanwhile.
  const played = await Promise.all(
    lobbiesPlayed.map(async ({ lobbyId, players }) => ({
      all: await Promise.all(players.map((player) => credentialsOf(player, lobbyId))),
    })),
  )

  const tokens = played.flatMap(({ all }) => all.map(({ userToken }) => userToken))
  expect(new Set(tokens).size).toBe(90)
  for (const { all } of played) expect(all.map(({ role }) => role)).toEqual(['host', 'client', 'client'])
  // The relay itself shows whether a token is valid.
  for (const { all } of played.slice(0, 5)) {
    for (const credentials of all) {
      const peer = await (credentials.role === 'host' ? hostBy(credentials, 'host') : joinBy(credentials))
      expect(peer.state).toBe('valid')
      peer.close()
    }
  }
  expect(Object.values(emulator.counters.rejected)).toEqual([])
  emulator.faults.clear()
  expect(await shut()).toEqual([])
}, 60_000)
