import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { systemClock } from '@muster/core/clock'
import type { LobbyView, RelayCredentials } from '@muster/relay'
import { expect, test } from 'vitest'
import { openArcade } from './arcade.js'

interface PagePeer {
  send(payload: Uint8Array, connection?: number): void
  close(): void
}
type OpenPeer = (
  credentials: RelayCredentials,
  told: {
    readonly received: (payload: Buffer, connection: number | undefined) => void
    readonly stateChanged?: (state: number) => void
  },
) => PagePeer

/** Returns the transport in the form in which the documentation page shows it. */
async function transportOfPage(): Promise<OpenPeer> {
  const page = readFileSync(fileURLToPath(new URL('../../docs/relay-packets.md', import.meta.url)), 'utf8')
  const code = /```js\n([\s\S]*?)```/.exec(page)?.[1] ?? ''
  const module = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as { readonly openPeer: OpenPeer }
  return module.openPeer
}

const ann = { id: 'ann', ip: '203.0.113.7' }
const ben = { id: 'ben', ip: '203.0.113.8' }

test('the transport of docs/relay-packets.md plays over the relay, and is notified of its removal', async () => {
  const openPeer = await transportOfPage()
  const { call, credentialsOf, shut } = await openArcade()
  const { lobbyId, code } = await call<LobbyView>(ann, 'POST', '/lobbies', {
    maxPlayers: 2,
    visibility: 'private',
    requireReady: false,
  })
  await call(ben, 'POST', '/lobbies/join', { code })
  await call(ann, 'POST', `/lobbies/${lobbyId}/start`)
  const states: Record<'host' | 'client', number[]> = { host: [], client: [] }
  const heard: string[] = []
  const host = openPeer(await credentialsOf(ann, lobbyId), {
    received: (payload, connection) => {
      if (payload.length < 100) host.send(Buffer.from(`host:${payload.toString()}`), connection)
    },
    stateChanged: (state) => states.host.push(state),
  })
  const client = openPeer(await credentialsOf(ben, lobbyId), {
    received: (payload, connection) => heard.push(`${payload.toString()} ${connection}`),
    stateChanged: (state) => states.client.push(state),
  })
  await expect.poll(() => [states.host.at(-1), states.client.at(-1)]).toEqual([2, 2])
  expect(() => client.send(Buffer.alloc(1188))).toThrow('a payload has at most 1187 bytes, got 1188')
  await expect
    .poll(() => {
      client.send(Buffer.from('hello'))
      return heard
    })
    .toContain('host:hello undefined')
  client.send(Buffer.alloc(1187))
  await call(ann, 'DELETE', `/lobbies/${lobbyId}/members/ben`)
  await expect.poll(() => states.client.at(-1)).toBe(3)
  host.close()
  client.close()
  expect(await shut()).toEqual([])
})

test('the transport of docs/relay-packets.md waits for a silent host, and stops if the relay refuses it', async () => {
  const openPeer = await transportOfPage()
  const answers = [4, 2, 5, 2]
  let pings = 0
  const relay = createSocket('udp4').on('message', (_, { port }) => {
    pings += 1
    relay.send(Buffer.from([1, answers.shift() ?? 2]), port, '127.0.0.1')
  })
  relay.bind(0, '127.0.0.1')
  await once(relay, 'listening')
  const states: number[] = []
  const peer = openPeer(
    {
      role: 'client',
      host: '127.0.0.1',
      port: relay.address().port,
      userToken: 1,
      sessionToken: 2,
      sessionId: '',
      protocol: 'UDP',
    },
    { received: () => {}, stateChanged: (state) => states.push(state) },
  )
  await expect.poll(() => states.at(-1)).toBe(5)
  await systemClock.sleep(1100)
  expect([states, pings]).toEqual([[4, 2, 5], 3])
  peer.close()
  relay.close()
})

test('the transport of docs/relay-packets.md survives an unknown host name, and can be closed', async () => {
  const openPeer = await transportOfPage()
  const states: number[] = []
  const { credentialsOf, call, shut } = await openArcade()
  const { lobbyId } = await call<LobbyView>(ann, 'POST', '/lobbies', { maxPlayers: 2, requireReady: false })
  await call(ann, 'POST', `/lobbies/${lobbyId}/start`)
  const credentials = { ...(await credentialsOf(ann, lobbyId)), host: `${'x'.repeat(64)}.invalid` }
  const peer = openPeer(credentials, { received: () => {}, stateChanged: (state) => states.push(state) })
  await new Promise((resolve) => setTimeout(resolve, 1200))
  peer.send(Buffer.from('nobody'))
  peer.close()
  expect(states).toEqual([])
  expect(await shut()).toEqual([])
})
