import { afterAll, beforeAll, expect, test } from 'vitest'
import { BACKEND_KEY, freePort, openServer, openService, type ServerUnderTest, yamlOf } from '../server.fixture.js'

let service: Awaited<ReturnType<typeof openService>>
let under: ServerUnderTest
beforeAll(async () => {
  service = await openService()
  const text = yamlOf(service.url).replace('listen: { port: 0 }', "listen: { port: 0, admin: '127.0.0.1:0' }")
  under = await openServer(text)
})
afterAll(async () => {
  await under.server.close()
  await service.emulator.close()
})

const statusesAt = async (url: string | undefined) => {
  const status = async (path: string) => (await fetch(`${url}${path}`, { redirect: 'manual' })).status
  return Promise.all(['/healthz', '/readyz', '/metrics', '/console', '/', '/tickets', '/consoles'].map(status))
}

test('the admin listener serves only health, metrics and the console', async () => {
  expect(await statusesAt(under.server.adminUrl)).toEqual([200, 200, 200, 308, 302, 404, 404])
})

test('the log shows the ports at which the program listens, also if any free ones were chosen', () => {
  const listening = under.lines.find((line) => line.includes('"listening"')) ?? '{}'
  const portOf = (url = '') => Number(new URL(url).port)
  expect(JSON.parse(listening)).toMatchObject({
    port: portOf(under.server.url),
    adminPort: portOf(under.server.adminUrl),
  })
})

test('with an admin listener, the listener for players serves no metrics and no console', async () => {
  expect(await statusesAt(under.server.url)).toEqual([200, 200, 404, 404, 404, 405, 404])
  expect((await under.ask('GET', '/players/ann', { token: BACKEND_KEY })).status).toBe(200)
})

test('the admin listener ends when the server closes', async () => {
  const { adminUrl } = under.server
  await under.server.close()
  await expect(fetch(`${adminUrl}/healthz`)).rejects.toThrow('fetch failed')
})

test('if the port of the admin listener is taken, the start fails, and the listener for players ends too', async () => {
  const { server } = await openServer(yamlOf(service.url))
  const { port } = new URL(server.url)
  const forPlayers = await freePort()
  const listen = `listen: { port: ${forPlayers}, admin: '127.0.0.1:${port}' }`
  const text = yamlOf(service.url).replace('listen: { port: 0 }', listen)
  await expect(openServer(text)).rejects.toMatchObject({
    code: 'EADDRINUSE',
    message:
      `listen.admin: host 127.0.0.1, port ${port}: another program listens there already. ` +
      'End it, or choose another port (EADDRINUSE).',
  })
  await expect(fetch(`http://127.0.0.1:${forPlayers}/healthz`)).rejects.toThrow('fetch failed')
  await server.close()
})
