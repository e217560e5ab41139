/**
 * Friends play over a relay: a lobby by code, real UDP packets, a host who leaves, one who is kicked, one who comes back.
 * Two of the three play behind one address, and still have a token each.
 */
import assert from 'node:assert/strict'
import { createClient } from '@muster/core'
import { systemClock } from '@muster/core/clock'
import { createEmulator } from '@muster/emulator'
import { createPeer, PeerError, type ClientPeer, type HostPeer } from '@muster/emulator/peer'
import { createLobbies, createRelaySessions, type RelayCredentials } from '@muster/relay'

const emulator = createEmulator({ speed: 10, relayData: true })
const { url } = await emulator.listen()
const client = createClient({ baseUrl: url, token: 'dev' })
const sessions = createRelaySessions({ client: client.relays, pollMs: 50 })
const lobbies = createLobbies({ relay: sessions })

const ann = { id: 'ann', ip: '203.0.113.7' }
const ben = { id: 'ben', ip: '203.0.113.8' }
const cleo = { id: 'cleo', ip: '203.0.113.8' }

const { lobbyId, code } = await lobbies.create({ player: ann, maxPlayers: 3, visibility: 'private', requireReady: false })
await lobbies.join({ player: ben, code })
await lobbies.join({ player: cleo, code })
await lobbies.start({ lobbyId, playerId: 'ann' })
console.log(`three players have met by the code ${code}`)

/** A member's own credentials, as soon as they are of this term or a later one. */
async function credentialsOf(playerId: string, term = 1): Promise<RelayCredentials> {
  for (let cursor: number | undefined; ; ) {
    const { run } = await lobbies.get({ lobbyId, playerId })
    if (run?.status === 'relayed' && run.term >= term && run.credentials !== null) return run.credentials
    cursor = (await lobbies.poll({ lobbyId, playerId, after: cursor, waitMs: 1000 })).cursor
  }
}

const wire = ({ host, port, userToken, sessionToken }: RelayCredentials) => ({ host, port, userToken, sessionToken, pingMs: 100 })

async function hostBy(credentials: RelayCredentials): Promise<HostPeer> {
  assert.equal(credentials.role, 'host')
  const peer = createPeer({ role: 'host', ...wire(credentials) })
  // An echo, with the host's mark in front.
  peer.onMessage(({ connectionId, data }) => peer.send(connectionId, Buffer.concat([Buffer.from('host:'), data])))
  await peer.connect()
  return peer
}

async function joinBy(credentials: RelayCredentials): Promise<ClientPeer> {
  assert.equal(credentials.role, 'client')
  const peer = createPeer({ role: 'client', ...wire(credentials) })
  await peer.connect()
  return peer
}

/** Sends numbered packets until each has come back: datagrams may get lost. */
async function exchange(peer: ClientPeer, from: string): Promise<void> {
  const missing = new Set(Array.from({ length: 20 }, (_, number) => `${from}-${number}`))
  const off = peer.onMessage(({ data }) => void missing.delete(data.toString().replace('host:', '')))
  for (let round = 0; missing.size > 0 && round < 50; round += 1) {
    for (const packet of missing) peer.send(Buffer.from(packet))
    await systemClock.sleep(20)
  }
  off()
  assert.equal(missing.size, 0, `packets of ${from} that did not come back`)
}

const first = { ann: await credentialsOf('ann'), ben: await credentialsOf('ben'), cleo: await credentialsOf('cleo') }
assert.equal(new Set(Object.values(first).map(({ userToken }) => userToken)).size, 3)
const annPeer = await hostBy(first.ann)
const [benPeer, cleoPeer] = [await joinBy(first.ben), await joinBy(first.cleo)]
await exchange(benPeer, 'ben')
await exchange(cleoPeer, 'cleo')
console.log('numbered packets went through the relay and back')

await lobbies.leave({ lobbyId, playerId: 'ann' })
for (const peer of [annPeer, benPeer, cleoPeer]) peer.close()
const second = { ben: await credentialsOf('ben', 2), cleo: await credentialsOf('cleo', 2) }
assert.notEqual(second.ben.sessionId, first.ben.sessionId)
const benAsHost = await hostBy(second.ben)
const cleoAgain = await joinBy(second.cleo)
await exchange(cleoAgain, 'cleo')
console.log('the host has left; who was there longest is host now, on a new session')

await lobbies.kick({ lobbyId, playerId: 'ben', targetId: 'cleo' })
const thrownOut = new Promise<string>((resolve) => cleoAgain.onState(resolve))
assert.equal(await thrownOut, 'invalid')
assert.throws(() => cleoAgain.send(Buffer.from('still here')), PeerError)
console.log('who is kicked cannot send any more')

await lobbies.join({ player: cleo, code })
const third = await credentialsOf('cleo', 2)
assert.notEqual(third.userToken, second.cleo.userToken)
const cleoBack = await joinBy(third)
await exchange(cleoBack, 'cleo')
console.log('and who comes back has a new token')

for (const peer of [benAsHost, cleoAgain, cleoBack]) peer.close()
await lobbies.close()
await sessions.close()
assert.deepEqual((await client.relays.list()).sessions, [])
console.log('no session is left open')
await client.close()
await emulator.close()
