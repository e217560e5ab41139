/**
 * Friends play without a game server. They meet in a lobby over HTTP, and play over a relay by UDP. The host leaves and
 * another player becomes host, one is kicked, and one comes back. Two of the three share an address, but have distinct
 * tokens.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient } from '@muster/core'
import { systemClock } from '@muster/core/clock'
import { bearerToken, clientAddress, nodeListener, type HttpHandler } from '@muster/core/http'
import { createEmulator } from '@muster/emulator'
import { createPeer, PeerError, type ClientPeer, type HostPeer } from '@muster/emulator/peer'
import {
  createLobbies,
  createLobbyApi,
  createRelaySessions,
  type Followed,
  type LobbyView,
  type RelayCredentials,
} from '@muster/relay'

// The service on this machine, with relays that carry packets. In production, use the service's URL and your token.
const emulator = createEmulator({ speed: 10, relayData: true })
const client = createClient({ baseUrl: (await emulator.listen()).url, token: 'dev' })

// Your backend: the lobby API, and the webhook by which the service reports that a relay session is ready.
const server = createServer().listen(0, '127.0.0.1')
await once(server, 'listening')
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const sessions = createRelaySessions({ client: client.relays, webhookBaseUrl: `${url}/relay-hooks` })
const lobbies = createLobbies({ relay: sessions })
const api = createLobbyApi(lobbies, {
  // A real backend looks up the token. Here the token is the player's name.
  authenticate: (request) => {
    const id = bearerToken(request)
    return id === undefined ? undefined : { id }
  },
  // The backend is behind a load balancer, which states the address of each player.
  address: clientAddress({ trustedProxies: ['127.0.0.1/32'] }),
})
const isHook = (request: Request) => new URL(request.url).pathname.startsWith('/relay-hooks/')
const backend: HttpHandler = (request, connection) =>
  isHook(request) ? sessions.webhook(request) : api(request, connection)
server.on('request', nodeListener(backend))

/** The part of a game client that uses the lobby API. */
function createPlayer(id: string, ip: string) {
  let cursor = 0
  const call = async (method: string, path: string, body?: object): Promise<{ status: number; json: unknown }> => {
    const headers = { authorization: `Bearer ${id}`, 'x-forwarded-for': ip, 'content-type': 'application/json' }
    const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    const text = await response.text()
    return { status: response.status, json: text === '' ? undefined : JSON.parse(text) }
  }
  /** Sends a request that must succeed. */
  const ask = async (method: string, path: string, body?: object): Promise<LobbyView> => {
    const { status, json } = await call(method, path, body)
    assert.ok(status < 300, `${id}: ${method} ${path}: ${JSON.stringify(json)}`)
    return json as LobbyView
  }
  const join = async (code: string): Promise<LobbyView> => {
    const { lobby } = (await ask('POST', '/lobbies/join', { code })) as unknown as { lobby: LobbyView }
    cursor = lobby.cursor // what came before is in this answer
    return lobby
  }
  /** Waits by long poll for the next credentials in the lobby's events. */
  const nextCredentials = async (lobbyId: string): Promise<RelayCredentials> => {
    for (;;) {
      const { json } = await call('GET', `/lobbies/${lobbyId}/events?after=${cursor}&wait=10`)
      const followed = json as Followed
      cursor = followed.cursor
      for (const message of followed.messages) {
        // A player who has missed too many events gets the whole state instead.
        const news = message.type === 'snapshot' ? message.lobby.run : message
        if (news !== null && 'credentials' in news && news.credentials) return news.credentials
      }
      assert.equal(followed.over, false)
    }
  }
  return { id, call, ask, join, nextCredentials }
}

// The game's part: a host that answers every packet, and clients that send numbered packets.
async function hostGame(credentials: RelayCredentials): Promise<HostPeer> {
  const peer = createPeer(credentials)
  assert(peer.role === 'host')
  peer.onMessage(({ connectionId, data }) => peer.send(connectionId, Buffer.concat([Buffer.from('host:'), data])))
  await peer.connect()
  return peer
}

async function joinGame(credentials: RelayCredentials): Promise<ClientPeer> {
  const peer = createPeer(credentials)
  assert(peer.role === 'client')
  await peer.connect()
  return peer
}

/** Sends each packet until it has come back, because datagrams may get lost. */
async function exchange(peer: ClientPeer): Promise<void> {
  const missing = new Set(Array.from({ length: 20 }, (_, number) => `packet ${number}`))
  const stop = peer.onMessage(({ data }) => void missing.delete(data.toString().replace('host:', '')))
  for (let round = 0; missing.size > 0 && round < 50; round += 1) {
    for (const packet of missing) peer.send(Buffer.from(packet))
    await systemClock.sleep(20)
  }
  stop()
  assert.deepEqual([...missing], [])
}

// A lobby with a code. It has no relay, which would cost money, before it starts.
const ann = createPlayer('ann', '203.0.113.7')
const ben = createPlayer('ben', '203.0.113.8')
const cleo = createPlayer('cleo', '203.0.113.8')
const { lobbyId, code } = await ann.ask('POST', '/lobbies', { maxPlayers: 3, visibility: 'private' })
assert.equal((await cleo.call('POST', '/lobbies/join', { code: 'BCDFGHJKLM' })).status, 404)
for (const player of [ben, cleo]) {
  await player.join(code)
  await player.ask('PUT', `/lobbies/${lobbyId}/me/ready`, { ready: true })
}
assert.deepEqual((await client.relays.list()).sessions, [])
await ann.ask('POST', `/lobbies/${lobbyId}/start`)
console.log(`three players have met by the code ${code}`)

const first = await Promise.all([ann, ben, cleo].map((player) => player.nextCredentials(lobbyId)))
assert.equal(new Set(first.map(({ userToken }) => userToken)).size, 3)
const [anns, bens, cleos] = first as [RelayCredentials, RelayCredentials, RelayCredentials]
const firstGame = [await hostGame(anns), await joinGame(bens), await joinGame(cleos)] as const
await Promise.all([exchange(firstGame[1]), exchange(firstGame[2])])
console.log('numbered packets have gone through the relay and back')

// The host leaves. The member who has been in the lobby longest becomes host, in a new session. The others get new
// credentials.
await ann.ask('DELETE', `/lobbies/${lobbyId}/me`)
const [bensNext, cleosNext] = [await ben.nextCredentials(lobbyId), await cleo.nextCredentials(lobbyId)]
for (const peer of firstGame) peer.close()
assert.notEqual(bensNext.sessionId, bens.sessionId)
const [benHosts, cleoPlays] = [await hostGame(bensNext), await joinGame(cleosNext)]
await exchange(cleoPlays)
console.log('the host has left, and the next has taken over')

// The token of a kicked player is no longer valid.
const thrownOut = new Promise<void>((resolve) => cleoPlays.onState((state) => state === 'invalid' && resolve()))
await ben.ask('DELETE', `/lobbies/${lobbyId}/members/cleo`)
await thrownOut
assert.throws(() => cleoPlays.send(Buffer.from('still here')), PeerError)
await assert.rejects(cleoPlays.connect(), { problem: 'invalid' })
assert.equal((await cleo.call('GET', `/lobbies/${lobbyId}`)).status, 404)
console.log('who is kicked cannot send any more')

// A player who has left may come back to the same slot, with a new token.
const { members } = await ann.join(code)
assert.equal(members.find(({ playerId }) => playerId === 'ann')?.slot, 0)
const annsAgain = await ann.nextCredentials(lobbyId)
assert.notEqual(annsAgain.userToken, anns.userToken)
const annPlays = await joinGame(annsAgain)
await exchange(annPlays)
console.log('who has left is back, as a client now')

await ben.ask('DELETE', `/lobbies/${lobbyId}`)
for (const peer of [benHosts, cleoPlays, annPlays]) peer.close()
await lobbies.close()
await sessions.close()
assert.deepEqual((await client.relays.list()).sessions, [])
console.log('no session is left open')
server.closeAllConnections()
server.close()
await client.close()
await emulator.close()
