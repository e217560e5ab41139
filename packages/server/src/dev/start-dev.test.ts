import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { greeting } from '../cli/run-dev.js'
import { ask } from './ask.fixture.js'
import { startDev, type Dev, type DevOptions } from './start-dev.js'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

async function open(options: DevOptions = {}): Promise<Dev> {
  const dev = await startDev({ port: 0, emulatorPort: 0, token: 'TOKEN', write: () => {}, ...options })
  ends.push(dev.close)
  return dev
}

const create = async (dev: Dev, who: string, body: object) => {
  const answer = await ask(dev, who, 'POST', '/tickets', body)
  return { ...((await answer.json()) as { id: string; code?: string }), status: answer.status }
}

/** A studio's own file, written for its production. */
const STUDIO = `
name: studio
service: { url: https://api.example.com, token: { env: NOT_SET } }
auth: { jwt: { jwks: https://login.example.com/keys } }
profiles: { url: https://game.example.com/profiles, token: { env: NOT_SET } }
queues:
  - name: registering
    matchSize: 2
    rules:
      - { kind: difference, attribute: rating, max: 10 }
      - { kind: latency, maxMs: 80 }
      - { kind: any, rules: [{ kind: equal, attribute: mode }, { kind: overlap, attribute: maps }] }
    deploy:
      application: game
      version: '1'
      probe: { kind: registration, url: https://mm.example.com/server-ready, withinMs: 5000 }
  - name: strict
    matchSize: 2
    rules: [{ kind: difference, attribute: rating, max: 10 }]
    playerMayState: [colour]
    deploy: { application: game, version: '1' }
`

test('muster dev accepts a file without a service, and reports other errors in it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'muster-dev-'))
  ends.push(() => rmSync(folder, { recursive: true }))
  const config = join(folder, 'muster.yaml')
  writeFileSync(config, 'queues: [{ name: duel, matchSize: 2 }]')
  await expect(open({ config })).rejects.toThrow(/^\S+:1:10: queues\.0\.deploy: must be given unless pool is given$/)
  writeFileSync(config, "queues: [{ name: duel, matchSize: 2, deploy: { application: game, version: '1' } }]")
  const dev = await open({ config })
  expect(await create(dev, 'ann', { profile: 'duel' })).toMatchObject({ status: 201 })
})

test('muster dev queues players by the profiles of a file, and its servers register', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'muster-dev-'))
  ends.push(() => rmSync(folder, { recursive: true }))
  const config = join(folder, 'muster.yaml')
  writeFileSync(config, STUDIO)
  const dev = await open({ config })
  expect(dev.ignored).toEqual(['auth', 'profiles'])
  expect(greeting(dev)).toContain('IGNORED HERE: "profiles" of your file: players have the attributes that they send')

  const ann = await create(dev, 'ann', { profile: 'registering' })
  const ben = await create(dev, 'ben', { profile: 'registering', attributes: { rating: 1505, mode: 'ctf' } })
  expect([ann.status, ben.status]).toEqual([201, 201])
  let ticket = { status: '', version: 0 }
  for (let polls = 0; polls < 10 && ticket.status !== 'HOST_ASSIGNED'; polls += 1)
    ticket = (await (
      await ask(dev, 'ann', 'GET', `/tickets/${ann.id}?wait=5&version=${ticket.version}`)
    ).json()) as typeof ticket
  expect(ticket).toMatchObject({
    status: 'HOST_ASSIGNED',
    assignment: { ports: { game: { link: expect.stringMatching(/^localhost:\d+$/) } } },
  })

  expect(await create(dev, 'cas', { profile: 'strict', attributes: { colour: 'red' } })).toMatchObject({ status: 201 })
  expect(await create(dev, 'dan', { profile: 'strict', attributes: { rating: 9 } })).toMatchObject({
    status: 400,
    code: 'not-believed',
  })
})

/** A pool that always has two warm servers. */
const POOLED = `
name: studio
auth: { shared: { token: { env: NOT_SET }, key: { env: NOT_SET } } }
service: { url: https://api.example.com, token: { env: NOT_SET } }
results: { url: https://game.example.com/results, secret: { env: NOT_SET } }
servers: { secret: { env: NOT_SET } }
sources: { metal: { allocator: 'https://hoster.example.com', secret: { env: NOT_SET } } }
pools:
  - name: arena
    source: metal
    deploy: { application: game, version: '1' }
    places: [{ name: Frankfurt, latitude: 50.1, longitude: 8.7 }]
    reuse: { maxMatches: 20 }
    at: [{ cron: '* * * * *', minutes: 2, min: 2 }]
queues:
  - { name: duel, matchSize: 2, pool: arena }
`

test('muster dev emulates pool servers: a match uses a warm one, and the next match reuses it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'muster-dev-'))
  ends.push(() => rmSync(folder, { recursive: true }))
  const config = join(folder, 'muster.yaml')
  writeFileSync(config, POOLED)
  const dev = await open({ config })
  expect(dev.ignored).toEqual(['auth', 'servers', 'sources', 'results'])
  expect(greeting(dev)).toContain('IGNORED HERE: "sources" of your file: the emulator starts all servers')
  expect(greeting(dev)).toContain('IGNORED HERE: "results" of your file: no result is sent.')
  const running = async () => {
    const state = (await (await fetch(`${dev.urls.emulator}/state`)).json()) as {
      deployments: { latest: { request_id: string; status: string }[] }
    }
    return state.deployments.latest.filter(({ status }) => status === 'READY').map(({ request_id }) => request_id)
  }
  await expect.poll(async () => (await running()).length).toBe(2)

  const hosts = new Set<string>()
  for (const pair of [
    ['ann', 'ben'],
    ['cas', 'dan'],
    ['eve', 'fay'],
  ]) {
    const [first = ''] = pair
    for (const who of pair) expect(await create(dev, who, { profile: 'duel' })).toMatchObject({ status: 201 })
    const me = async () =>
      (await (await ask(dev, first, 'GET', '/me')).json()) as {
        matches: { match_id: string; assignment?: { join_token: string; ports: { game: { link: string } } } }[]
      }
    await expect.poll(async () => (await me()).matches[0]?.assignment?.join_token).toMatch(/^ey/)
    const [match] = (await me()).matches
    hosts.add(match?.assignment?.ports.game.link ?? '')
    expect((await ask(dev, '', 'DELETE', `/matches/${match?.match_id}`)).status).toBe(202)
  }
  // The third match used a server of an earlier match.
  expect(hosts.size).toBeLessThan(3)
}, 60_000)

test.each(['specification', 'observed'] as const)(
  'muster dev --as %s matches players with any service settings that the file has for production',
  async (as) => {
    const folder = mkdtempSync(join(tmpdir(), 'muster-dev-'))
    ends.push(() => rmSync(folder, { recursive: true }))
    const config = join(folder, 'muster.yaml')
    const service =
      'service: { url: https://api.example.com, token: { env: NOT_SET }, settings: { createDeploymentPath: /own } }'
    writeFileSync(
      config,
      `${service}\nqueues: [{ name: duel, matchSize: 2, deploy: { application: game, version: '1' } }]`,
    )
    const dev = await open({ config, as })
    for (const who of ['ann', 'ben']) expect((await create(dev, who, { profile: 'duel' })).status).toBe(201)
    const matches = async () =>
      ((await (await ask(dev, 'ann', 'GET', '/me')).json()) as { matches: { assignment?: object }[] }).matches
    await expect.poll(async () => (await matches())[0]?.assignment).toBeDefined()
    const fleets = await fetch(new URL('/v1/fleets', dev.urls.emulator), { headers: { authorization: 'token dev' } })
    expect(fleets.status).toBe(as === 'observed' ? 404 : 200)
  },
)

test('muster dev gives the emulator another port if the server has the port of the emulator', async () => {
  const closed = await open()
  const port = Number(new URL(closed.urls.api).port)
  await closed.close()
  const dev = await open({ port, emulatorPort: port })
  expect(new URL(dev.urls.api).port).toBe(String(port))
  expect((await fetch(dev.urls.emulator)).status).toBe(200)
})

test('muster dev uses another port if one is taken, and prints which', async () => {
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  ends.push(() => other.close())
  const { port } = other.address() as AddressInfo
  const dev = await open({ port })
  expect(dev.taken).toEqual([port])
  expect((await fetch(`${dev.urls.api}/healthz`)).status).toBe(200)
})

test('muster dev is notified of the end of a server by webhook, at once', async () => {
  const dev = await open()
  for (const who of ['ann', 'ben']) await create(dev, who, { profile: 'duel' })
  const matches = async () =>
    ((await (await ask(dev, 'ann', 'GET', '/me')).json()) as { matches: { assignment?: object }[] }).matches
  await expect.poll(async () => (await matches())[0]?.assignment).toBeDefined()
  const { deployments } = (await (await fetch(`${dev.urls.emulator}/state`)).json()) as {
    deployments: { latest: { request_id: string }[] }
  }
  const stop = new URL(`/v1/stop/${deployments.latest[0]?.request_id}`, dev.urls.emulator)
  await fetch(stop, { method: 'DELETE', headers: { authorization: 'token dev' } })
  await expect.poll(async () => (await matches()).length, { timeout: 4000 }).toBe(0)
})
