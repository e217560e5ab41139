import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { bearerToken, clientAddress, nodeListener } from '@muster/core/http'
import { expect, onTestFinished } from 'vitest'
import { setUp } from '../lobby/lobbies.fixture.js'
import { createLobbyApi, type LobbyApiOptions } from './lobby-api.js'
import { lobbyRoutes } from './routes.js'

/** Serves the lobby API on a loopback port, over lobbies on a manual clock. */
export async function serve(options: Partial<LobbyApiOptions> = {}) {
  const world = setUp()
  const api = createLobbyApi(world.lobbies, {
    authenticate: (request) => {
      const id = bearerToken(request)
      return id === undefined ? undefined : { id }
    },
    // All requests come from loopback, so tests state addresses in x-forwarded-for.
    address: clientAddress({ trustedProxies: ['127.0.0.0/8'] }),
    clock: world.clock,
    ...options,
  })
  const server = createServer(nodeListener(api))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await world.tearDown()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const request = (
    player: string | undefined,
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) =>
    fetch(url + path, {
      method,
      headers: {
        ...(player === undefined
          ? {}
          : { authorization: `Bearer ${player}`, 'x-forwarded-for': `192.0.2.${player.charCodeAt(0) % 3}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
  const call = async (player: string | undefined, method: string, path: string, body?: unknown) => {
    const response = await request(player, method, path, body)
    const text = await response.text()
    // Every response fits its description and has no further keys.
    const route = Object.values(lobbyRoutes).find(
      (one) =>
        one.method === method &&
        new RegExp(`^${one.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path.split('?')[0] as string),
    )
    const json: unknown = text === '' ? undefined : JSON.parse(text)
    if (response.ok && route?.output !== undefined) expect(route.output.parse(json)).toEqual(json)
    if (!response.ok && route !== undefined)
      expect([...route.errors, 400, 401, 413, 415, 429]).toContain(response.status)
    return { status: response.status, json: json as never, headers: response.headers }
  }
  const lobby = async (body: object = {}) => {
    const { json } = await call('ann', 'POST', '/lobbies', { maxPlayers: 4, requireReady: false, ...body })
    return json as { lobbyId: string; code: string; cursor: number }
  }
  return { ...world, url, request, call, lobby }
}
