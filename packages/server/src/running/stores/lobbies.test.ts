import { createManualClock } from '@muster/core/clock'
import { StoreUnavailable } from '@muster/core'
import type { MatchmakerEvents, TicketService } from '@muster/matchmaker'
import { createMemoryLobbyStore } from '@muster/relay'
import { expect, test } from 'vitest'
import { signShared } from '../../auth/jwks.fixture.js'
import { openLobbies } from './lobbies.js'
import { BACKEND_KEY, freePort, JWT_SECRET, openServer, openService, yamlOf } from '../server.fixture.js'

test('a lobby whose match was on a pool server can start again once the match is over', async () => {
  const service = await openService({ gameServers: { matchMs: 36_000_000 } })
  const port = await freePort()
  const more = `
listen: { port: ${port}, publicUrl: 'http://127.0.0.1:${port}' }
lobbies: { enabled: true, startAs: match, queue: solo }
pools:
  - name: arena
    deploy: { application: my-game, version: '1.0' }
    reuse: { maxMatches: 20 }
`
  const text = yamlOf(service.url, more, '\n  - { name: solo, matchSize: 1, pool: arena }\n')
  const { server, ask } = await openServer(text.replace('listen: { port: 0 }\n', ''))
  try {
    const token = await signShared({ sub: 'ann' }, JWT_SECRET, Math.floor(Date.now() / 1000) + 3600)
    const of = async <Body>(method: string, path: string, options: object = { token }) =>
      (await (await ask(method, path, options)).json()) as Body
    const { lobbyId } = await of<{ lobbyId: string }>('POST', '/lobbies', { token, body: { maxPlayers: 4 } })
    await ask('POST', `/lobbies/${lobbyId}/start`, { token })
    const lobby = () => of<{ phase: string; run?: { assignment?: { match: string } } }>('GET', `/lobbies/${lobbyId}`)
    const matchId = async () => (await lobby()).run?.assignment?.match
    await expect.poll(matchId).toBeDefined()
    await ask('DELETE', `/matches/${await matchId()}`, { token: BACKEND_KEY })
    await expect.poll(lobby).toMatchObject({ phase: 'open' })
  } finally {
    await server.close()
    await service.emulator.close()
  }
}, 60_000)

test('players of a lobby get their match although the store of lobbies fails for 20 s', async () => {
  const clock = createManualClock()
  const memory = createMemoryLobbyStore()
  let isDown = false
  const store: typeof memory = {
    ...memory,
    replace: async (...input) => {
      if (isDown) throw new StoreUnavailable('the store does not answer')
      return memory.replace(...input)
    },
  }
  const listeners = new Map<string, (event: never) => void>()
  const problems: unknown[] = []
  const opened = await openLobbies({
    config: { lobbies: { enabled: true, startAs: 'match', queue: 'duel' }, queues: [] } as never,
    client: undefined,
    webhookUrl: undefined,
    clock,
    onProblem: (_, error) => problems.push(error),
    service: { createTicket: async () => ({}) } as unknown as TicketService,
    matching: {
      on: (name, listener) => listeners.set(name, listener as never).size as never,
      shared: { lobbies: store },
    },
  })
  const lobbies = (opened as NonNullable<typeof opened>).lobbies
  const ann = { lobbyId: '', playerId: 'ann' }
  ann.lobbyId = (await lobbies.create({ player: { id: 'ann', ip: '192.0.2.1' }, maxPlayers: 4 })).lobbyId
  await lobbies.start(ann)
  await clock.advance(100)
  const { run } = await lobbies.get(ann)
  if (run?.status !== 'handed-over') throw new Error('the lobby was not handed over')
  isDown = true
  const port = { internal: 7777, external: 31_000, protocol: 'UDP', name: 'game port', link: undefined }
  const assigned: Pick<MatchmakerEvents['serverAssigned'], 'matchId' | 'assignment'> = {
    matchId: 'm1',
    assignment: { fqdn: 'm1.example.com', publicIp: '203.0.113.7', ports: { 'game port': port }, location: undefined },
  }
  listeners.get('serverAssigned')?.({ ...assigned, tickets: [{ id: run.reference }] } as never)
  await clock.advance(20_000)
  isDown = false
  await lobbies.heartbeat(ann)
  await clock.advance(20_000)
  expect((await lobbies.get(ann)).run).toMatchObject({
    status: 'assigned',
    assignment: { match: 'm1', 'port.game_port': 'm1.example.com:31000' },
  })
  expect(problems).toHaveLength(1)
  await clock.until(Promise.resolve(opened?.close(1000)), 100)
  expect(clock.sleepers).toBe(0)
})
