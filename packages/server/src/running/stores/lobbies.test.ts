import { expect, test } from 'vitest'
import { signShared } from '../../auth/jwks.fixture.js'
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
