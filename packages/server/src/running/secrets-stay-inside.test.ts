import { afterAll, beforeAll, expect, test } from 'vitest'
import { signShared } from '../auth/jwks.fixture.js'
import {
  BACKEND_KEY,
  JWT_SECRET,
  OPERATE_KEY,
  openServer,
  openService,
  SERVICE_TOKEN,
  yamlOf,
} from './server.fixture.js'

let service: Awaited<ReturnType<typeof openService>>
beforeAll(async () => {
  service = await openService({ faults: [] })
})
afterAll(() => service.emulator.close())

/** Players' addresses, as a trusted proxy reports them. */
const addresses = ['198.51.100.23', '203.0.113.77', '2001:db8:1234::99']

test('no log line and no answer of a whole run contains an address, a token or a key', async () => {
  const trusted = 'addresses: { trustedProxies: [127.0.0.0/8, "::1/128"] }'
  const log = 'telemetry: { log: { level: debug } }'
  // Nobody listens at this address, which is a problem that must be logged.
  const profiles = 'profiles: { url: "http://127.0.0.1:9/profiles", token: { env: BACKEND_KEY } }'
  const { server, ask, lines } = await openServer(yamlOf(service.url, [trusted, log, profiles].join('\n')))
  const answers: string[] = []
  const tokens: string[] = []
  const call = async (...[method, path, options]: Parameters<typeof ask>) => {
    const answer = await ask(method, path, options)
    answers.push(await answer.text())
    return answer.status
  }
  for (const [index, address] of addresses.entries()) {
    const token = await signShared({ sub: `player-${index}`, mmr: 7 }, JWT_SECRET, Math.floor(Date.now() / 1000) + 600)
    tokens.push(token)
    const headers = { 'x-forwarded-for': address }
    expect(await call('POST', '/tickets', { token, headers, body: { profile: 'duel', attributes: {} } })).toBe(503)
    const body = { profile: 'duel', player_id: `guest-${index}`, player_ip: address, attributes: {} }
    await call('POST', '/tickets', { token: BACKEND_KEY, headers, body })
    await call('POST', '/tickets', { token: `${token}x`, headers, body: { profile: 'duel' } })
    await call('POST', '/tickets', { token, headers, body: { profile: 'none', player_ip: address } })
  }
  await call('GET', '/metrics')
  await call('GET', '/inspect/tickets', { token: BACKEND_KEY })
  await call('GET', '/console/api/queues', { token: OPERATE_KEY })
  await server.reload({ ...server.config(), queues: server.config().queues.slice(0, 1) })
  await server.close()

  const written = [...lines, ...answers].join('\n')
  expect(lines.length).toBeGreaterThan(3)
  for (const text of [...addresses, ...tokens, SERVICE_TOKEN, BACKEND_KEY, OPERATE_KEY, JWT_SECRET])
    expect(written).not.toContain(text)
})
