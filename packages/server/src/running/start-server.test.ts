import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { signShared } from '../auth/jwks.fixture.js'
import {
  BACKEND_KEY,
  JWT_SECRET,
  OPERATE_KEY,
  openServer,
  openService,
  yamlOf,
  type ServerUnderTest,
} from './server.fixture.js'

const inAnHour = () => Math.floor(Date.now() / 1000) + 3600
const tokenOf = (id: string, claims: object = {}) => signShared({ sub: id, ...claims }, JWT_SECRET, inAnHour())

let service: Awaited<ReturnType<typeof openService>>
let under: ServerUnderTest
beforeAll(async () => {
  service = await openService()
  under = await openServer(yamlOf(service.url))
  // Metrics begin shortly after the program listens, or with the first scrape.
  await under.ask('GET', '/metrics')
})
afterAll(async () => {
  await under.server.close()
  await service.emulator.close()
})

test('two players queue over HTTP and get the same server', async () => {
  const { ask } = under
  const wait = async (id: string) => {
    const token = await tokenOf(id)
    const created = await ask('POST', '/tickets', { token, body: { profile: 'duel', attributes: {} } })
    expect(created.status).toBe(201)
    let ticket = (await created.json()) as { id: string; status: string; version: number; assignment: object }
    while (ticket.status !== 'HOST_ASSIGNED') {
      const answer = await ask('GET', `/tickets/${ticket.id}?wait=20&version=${ticket.version}`, { token })
      ticket = (await answer.json()) as typeof ticket
    }
    const { join_token, ...place } = ticket.assignment as { readonly join_token?: string }
    return { join_token, place }
  }
  const [ann, ben] = await Promise.all([wait('ann'), wait('ben')])
  expect(ann.place).toEqual(ben.place)
  expect(ann.join_token).not.toBe(ben.join_token)
})

describe('the program over HTTP', () => {
  test('muster serve answers /healthz and /readyz with 200 once it is ready', async () => {
    const alive = await under.ask('GET', '/healthz')
    expect([alive.status, await alive.json()]).toEqual([200, { alive: true }])
    const ready = await under.ask('GET', '/readyz')
    expect([ready.status, await ready.json()]).toEqual([200, { ready: true, why: [] }])
  })

  test('muster serve answers /metrics with the number of created tickets', async () => {
    const metrics = await under.ask('GET', '/metrics')
    expect(metrics.status).toBe(200)
    expect(await metrics.text()).toMatch(/muster_tickets_created_total\{muster_queue="duel"\} 2/)
  })

  test('muster serve answers /openapi.json with a document that has the path /tickets', async () => {
    const document = (await (await under.ask('GET', '/openapi.json')).json()) as { paths: object }
    expect(Object.keys(document.paths)).toContain('/tickets')
  })

  test('muster serve with lobbies adds their paths to /openapi.json, and limits its requests', async () => {
    const own = await openServer(
      yamlOf(service.url, 'lobbies: { enabled: true }\nlimits: { perAddress: { limit: 2, windowMs: 60000 } }'),
    )
    const document = (await (await own.ask('GET', '/openapi.json')).json()) as { paths: object }
    expect(Object.keys(document.paths)).toEqual(expect.arrayContaining(['/tickets', '/lobbies']))
    expect((await own.ask('HEAD', '/openapi.json')).status).toBe(200)
    expect((await own.ask('GET', '/openapi.json')).status).toBe(429)
    await own.server.close()
  })

  test('muster serve redirects / and /console to /console/', async () => {
    expect((await under.ask('GET', '/')).headers.get('location')).toBe('/console/')
    expect((await under.ask('GET', '/console')).status).toBe(308)
  })

  test('muster serve answers 404 at any other path', async () => {
    for (const path of ['/nothing', '/webhooks', '/webhooks/other/x/y', '/lobbies', '/healthz/x', '/%2e%2e/etc/passwd'])
      expect([path, (await under.ask('GET', path)).status]).toEqual([path, 404])
    expect((await under.ask('POST', '/webhooks/servers/m/wrong', { body: {} })).status).toBe(404)
  })

  test('muster serve refuses unknown callers', async () => {
    expect((await under.ask('POST', '/tickets', { body: { profile: 'duel' } })).status).toBe(401)
    expect((await under.ask('POST', '/matches', { token: await tokenOf('ann'), body: {} })).status).toBe(403)
    expect((await under.ask('GET', '/players/ann', { token: BACKEND_KEY })).status).toBe(200)
  })
})

test('with a public URL, metrics are closed to unknown callers, unless they have a key or are open', async () => {
  const statusOf = async (more: string, token?: string) => {
    const text = yamlOf(service.url, more).replace('port: 0', "port: 0, publicUrl: 'https://mm.example'")
    const { server, ask } = await openServer(text)
    const { status } = await ask('GET', '/metrics', { token })
    await server.close()
    return status
  }
  const withKey = 'telemetry: { metrics: { key: { env: BACKEND_KEY } } }'
  expect(await statusOf('')).toBe(403)
  expect(await statusOf(withKey)).toBe(401)
  expect(await statusOf(withKey, BACKEND_KEY)).toBe(200)
  expect(await statusOf('telemetry: { metrics: { open: true } }')).toBe(200)
})

test('requests with wrong keys for metrics are limited, without affecting scrapes from the same address', async () => {
  const { server, ask } = await openServer(yamlOf(service.url, 'telemetry: { metrics: { key: { env: BACKEND_KEY } } }'))
  const statuses = []
  for (let index = 0; index < 30; index += 1) statuses.push((await ask('GET', '/metrics', { token: 'guess' })).status)
  expect(new Set(statuses)).toEqual(new Set([401, 429]))
  expect((await ask('GET', '/metrics', { token: BACKEND_KEY })).status).toBe(200)
  await server.close()
})

test('guessing tokens is limited, without affecting honest callers at the same address', async () => {
  const { server, ask } = await openServer(yamlOf(service.url, 'limits: { perAddress: { limit: 5, windowMs: 60000 } }'))
  const status = async (token: string, path = '/me') => (await ask('GET', path, { token })).status
  const ann = await tokenOf('ann')
  expect([await status(ann), await status(BACKEND_KEY, '/players/ann')]).toEqual([200, 200])
  const statuses: number[] = []
  for (let index = 0; index < 8; index += 1) statuses.push(await status(`guess-${index}`))
  expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429, 429])
  // An API key is no longer compared, unless it was used from this address before. A signed token is checked even if it
  // is new.
  expect(await status(OPERATE_KEY)).toBe(429)
  expect([await status(ann), await status(await tokenOf('ben'))]).toEqual([200, 200])
  expect(await status(BACKEND_KEY, '/players/ann')).toBe(200)
  expect(await status(`${ann}x`)).toBe(401)
  await server.close()
})

test('muster serve serves lobbies if they are enabled, and /me shows the lobbies of the player', async () => {
  const { server, ask } = await openServer(yamlOf(service.url, 'lobbies: { enabled: true }'))
  const token = await tokenOf('ann')
  const created = await ask('POST', '/lobbies', { token, body: { maxPlayers: 4 } })
  expect(created.status).toBe(201)
  const { lobbyId } = (await created.json()) as { lobbyId: string }
  const me = (await (await ask('GET', '/me', { token })).json()) as { lobbies: { lobby_id: string }[] }
  expect(me.lobbies.map((lobby) => lobby.lobby_id)).toEqual([lobbyId])
  const { paths } = (await (await ask('GET', '/openapi.json')).json()) as { paths: object }
  expect(Object.keys(paths)).toEqual(expect.arrayContaining(['/tickets', '/lobbies/{lobbyId}']))
  await server.close()
})

test('the list of changes has what a backend changes, but not each match that it ends', async () => {
  const { ask } = under
  const as = { token: BACKEND_KEY }
  const body = { profile: 'duel', attributes: {} }
  const [one, two] = [await tokenOf('cas'), await tokenOf('dee')]
  const created = await Promise.all([one, two].map((token) => ask('POST', '/tickets', { token, body })))
  const [ticket] = (await Promise.all(created.map((answer) => answer.json()))) as { readonly id: string }[]
  let match: string | null = null
  while (match === null) {
    const answer = await ask('GET', `/tickets/${ticket?.id}?wait=1`, { token: one })
    match = ((await answer.json()) as { readonly match_id: string | null }).match_id
  }
  expect((await ask('DELETE', `/matches/${match}`, as)).status).toBeLessThan(300)
  expect((await ask('POST', '/queues/duel/pause', as)).status).toBeLessThan(300)
  expect((await ask('POST', '/queues/duel/resume', as)).status).toBeLessThan(300)
  const answer = await ask('GET', '/console/api/acts', { token: OPERATE_KEY })
  const { acts } = (await answer.json()) as { readonly acts: readonly { readonly what: string }[] }
  expect(acts.map(({ what }) => what)).toEqual(['resume-queue', 'pause-queue'])
})
