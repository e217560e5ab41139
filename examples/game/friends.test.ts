/** Tests the bridge between pages and a relay of the emulator. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo } from 'node:net'
import { createMuster } from '@muster/client'
import { createLobbies } from '@muster/client/lobbies'
import { createClient } from '@muster/core'
import { systemClock } from '@muster/core/clock'
import { type HttpHandler, nodeListener } from '@muster/core/http'
import { createEmulator } from '@muster/emulator'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { createFriends } from './friends.js'
import { createSessions } from './sessions.js'

test('a page of the example game that closes while it connects sends nothing more to the relay', async () => {
  // The relay checks a peer for a second. The page leaves in that time.
  const emulator = createEmulator({ token: 'dev', speed: 1000, relayData: { authDelayMs: 1_000_000 } })
  const client = createClient({ baseUrl: (await emulator.listen()).url, token: 'dev' })
  let answer: HttpHandler = async () => new Response(null, { status: 503 })
  const listener = createServer(nodeListener((request, connection) => answer(request, connection)))
  await once(listener.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`
  const sessions = createSessions()
  const friends = createFriends({ url, client, sessions })
  answer = friends.answer
  listener.on('upgrade', friends.upgrade)

  const token = sessions.begin()
  const ann = createMuster({ url: `${url}/play`, token })
  const ben = createMuster({ url: `${url}/play`, token: sessions.begin() })
  onTestFinished(async () => {
    ann.close()
    ben.close()
    await friends.close()
    await client.close()
    await emulator.close()
    listener.closeAllConnections()
    listener.close()
  })
  const hosted = await createLobbies(ann).create({ maxPlayers: 2, visibility: 'private' })
  await (await createLobbies(ben).join(hosted.state.code)).ready()
  await hosted.start()
  await expect.poll(() => hosted.state.relay).not.toBeNull()

  const page = new WebSocket(`${url.replace('http', 'ws')}/relay`)
  await once(page, 'open')
  page.send(JSON.stringify({ token, lobby: hosted.state.id }))
  const received = () => emulator.counters.packets.received
  await expect.poll(received).toBeGreaterThan(0)
  page.terminate()
  await systemClock.sleep(300)
  const before = received()
  await systemClock.sleep(1500)
  expect(received()).toBe(before)
})
