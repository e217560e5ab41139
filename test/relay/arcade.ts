import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient } from '@muster/core'
import { seededRandom, systemClock } from '@muster/core/clock'
import { bearerToken, clientAddress, nodeListener, type HttpHandler } from '@muster/core/http'
import { createEmulator, type EmulatorOptions } from '@muster/emulator'
import {
  createLobbies,
  createLobbyApi,
  createRelaySessions,
  type LobbiesOptions,
  type LobbyView,
  type RelayCredentials,
  type RelaySessionsOptions,
} from '@muster/relay'

/** Waits in real time until there is a value. */
export async function eventually<T>(
  what: string,
  find: () => Promise<T | undefined> | T | undefined,
  timeoutMs = 45_000,
): Promise<T> {
  const deadline = systemClock.now() + timeoutMs
  for (;;) {
    const found = await find()
    if (found !== undefined && found !== false) return found
    if (systemClock.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain for ${what}`)
    await systemClock.sleep(10)
  }
}

/**
 * Starts a service on a port at the given speed, a client of it, relay sessions, lobbies, and their API on another
 * port.
 */
export async function openArcade(
  given: {
    readonly emulator?: EmulatorOptions
    readonly sessions?: Partial<RelaySessionsOptions>
    readonly lobbies?: Partial<LobbiesOptions>
    readonly seed?: number
  } = {},
) {
  const { seed = 1 } = given
  const emulator = createEmulator({ speed: 20, random: seededRandom(seed), relayData: true, ...given.emulator })
  const { url: serviceUrl } = await emulator.listen()
  const client = createClient({
    baseUrl: serviceUrl,
    token: 'dev',
    settings: emulator.settings,
    random: seededRandom(seed + 1),
    retry: { baseMs: 20, capMs: 200 },
  })

  // The sessions need the API's port before the API exists, so the handler is set later.
  const mounted: { answer: HttpHandler } = { answer: async () => new Response(null, { status: 503 }) }
  const server = createServer(nodeListener((request, connection) => mounted.answer(request, connection)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const sessions = createRelaySessions({
    client: client.relays,
    webhookBaseUrl: `${url}/relay-hooks`,
    callTimeoutMs: 5000,
    settleMs: 500,
    ...given.sessions,
  })
  const lobbies = createLobbies({ relay: sessions, tickMs: 100, ...given.lobbies })
  const api = createLobbyApi(lobbies, {
    basePath: '/api',
    authenticate: (request) => {
      const id = bearerToken(request)
      return id === undefined ? undefined : { id }
    },
    // All players connect over loopback, so a header states their address.
    address: clientAddress({ trustedProxies: ['127.0.0.0/8'] }),
    limits: { perCaller: null, perAddress: null },
  })
  const hooks = { calls: 0 }
  mounted.answer = async (request, connection) => {
    if (!new URL(request.url).pathname.startsWith('/relay-hooks/')) return api(request, connection)
    hooks.calls += 1
    return sessions.webhook(request)
  }

  /** Calls the lobby API as a player. */
  const call = async <Body>(
    player: { readonly id: string; readonly ip: string },
    method: string,
    path: string,
    body?: object,
  ): Promise<Body> => {
    const response = await fetch(`${url}/api${path}`, {
      method,
      headers: {
        authorization: `Bearer ${player.id}`,
        'x-forwarded-for': player.ip,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return (text === '' ? undefined : JSON.parse(text)) as Body
  }
  /** Resolves with the player's own credentials of this term or a later one. */
  const credentialsOf = (
    player: { readonly id: string; readonly ip: string },
    lobbyId: string,
    term = 1,
  ): Promise<RelayCredentials> =>
    eventually(`${player.id}'s credentials`, async () => {
      const { run } = await call<LobbyView>(player, 'GET', `/lobbies/${lobbyId}`)
      return run?.status === 'relayed' && run.term >= term ? (run.credentials ?? undefined) : undefined
    })

  return {
    emulator,
    client,
    sessions,
    lobbies,
    hooks,
    call,
    credentialsOf,
    /** Closes everything. Returns what is left in the service. */
    shut: async () => {
      await lobbies.close()
      await sessions.close()
      const left = emulator.inspect().relaySessions
      server.closeAllConnections()
      server.close()
      await client.close()
      await emulator.close()
      return left
    },
  }
}
