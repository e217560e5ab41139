import type { RelaySession } from '@muster/core/api'
import { expect, test } from 'vitest'
import { studio } from '../deployments/studio.fixture.js'
import type { Emulator } from '../emulator.js'
import { version } from '../emulator.fixture.js'
import { places } from '../places.js'
import type { PageState } from './read-page-state.js'

const read = async (emulator: Emulator, path: string) => (await emulator.fetch(new Request(`http://any${path}`))).text()
const stateOf = async (emulator: Emulator) => JSON.parse(await read(emulator, '/_emulator/state')) as PageState

test('the page state shows deployments, fleets, places, requests and faults, by the emulator’s clock', async () => {
  const { emulator, call, clock, deploy, stop } = await studio({
    capacity: { paris: 1 },
    speed: 2,
    faults: [{ operation: 'deployments.create', nth: [3], deployment: 'no capacity' }],
  })
  await call('POST', '/v1/app', { name: 'lobby', is_active: false })
  await call('POST', '/v1/fleet', { name: 'evening', enabled: true })
  await call('POST', '/v1/fleet/evening/policies', {
    name: 'two',
    enabled: true,
    minimum: 2,
    maximum: 4,
  })
  const stopped = await deploy({ tags: ['match-1'] })
  await clock.advance(30_000)
  await stop(stopped)
  await clock.advance(5000)
  const ready = await deploy({ tags: ['match-2', 'muster'] })
  await clock.advance(30_000)
  const failed = await deploy()
  await clock.advance(1000)
  await call('GET', '/v1/nothing')

  const { locations, applications, fleets, ...state } = await stateOf(emulator)
  expect(state).toEqual({
    now: '2026-01-01T00:01:06.000Z',
    speed: 2,
    connect: { baseUrl: 'http://emulator.invalid', token: null },
    deployments: {
      phases: { ready: 1, starting: 0, error: 1, stopping: 0 },
      withoutLocation: 1,
      byStatus: { TERMINATED: 1, READY: 1, ERROR: 1 },
      search: '',
      found: 3,
      latest: [
        {
          request_id: failed,
          application: 'arena',
          version: '1.0',
          status: 'ERROR',
          error: expect.any(String),
          location: null,
          tags: [],
          createdAt: '2026-01-01T00:01:05.000Z',
          ageMs: 1000,
          inStatusMs: 1000,
        },
        expect.objectContaining({
          request_id: ready,
          status: 'READY',
          error: null,
          location: expect.any(String),
          tags: ['match-2', 'muster'],
          ageMs: 31_000,
        }),
        expect.objectContaining({ request_id: stopped, status: 'TERMINATED', tags: ['match-1'] }),
      ],
    },
    faults: [{ fault: { operation: 'deployments.create', nth: [3], deployment: 'no capacity' }, seen: 3, struck: 1 }],
    relaySessions: { sessions: 0, ready: 0, users: 0, connected: 0 },
    counters: emulator.counters,
  })
  expect(state.counters).toMatchObject({ requests: { 'deployments.create': { 202: 2, 422: 1 } }, unrouted: 1 })
  expect(locations.length).toBe(places.length)
  expect(locations.filter(({ deployments }) => deployments > 0)).toEqual([
    expect.objectContaining({
      city: state.deployments.latest[1]?.location,
      ready: 1,
      starting: 0,
      error: 0,
      stopping: 0,
      deployments: 1,
      capacity: null,
    }),
  ])
  const paris = locations.find(({ id }) => id === 'paris')
  expect(paris).toMatchObject({ country: 'France', latitude: 48.86, longitude: 2.35, capacity: 1 })
  expect(applications).toEqual([
    {
      name: 'arena',
      active: true,
      versions: [{ name: '1.0', active: true, phases: { ready: 1, starting: 0, error: 1, stopping: 0 } }],
    },
    { name: 'lobby', active: false, versions: [] },
  ])
  expect(fleets).toEqual([
    {
      name: 'evening',
      enabled: true,
      versions: [],
      policies: [
        {
          name: 'two',
          enabled: true,
          minimum: 2,
          maximum: 4,
          phases: { ready: 0, starting: 0, error: 0, stopping: 0 },
        },
      ],
    },
  ])
})

test('the page state counts the deployments of a fleet with its policy', async () => {
  const { emulator, call } = await studio()
  await call('POST', '/v1/fleet', { name: 'evening' })
  await call('PATCH', '/v1/fleet/evening', { enabled: true })
  await call('POST', '/v1/fleet/evening/policies', { name: 'three', enabled: true, minimum: 3, maximum: 5 })
  await call('PUT', '/v1/fleet/evening/app/arena/version/1.0')
  expect((await stateOf(emulator)).fleets).toMatchObject([
    { versions: ['arena 1.0'], policies: [{ name: 'three', phases: { starting: 3 } }] },
  ])
})

test('the page state shows the latest of many deployments', async () => {
  const { emulator, deploy } = await studio()
  const ids: string[] = []
  for (let made = 0; made < 60; made++) ids.push(await deploy())
  const { deployments } = await stateOf(emulator)
  expect([deployments.phases.starting, deployments.found]).toEqual([60, 60])
  expect(deployments.latest.map(({ request_id }) => request_id)).toEqual(ids.slice(10).toReversed())
})

test('a page search covers all deployments and shows the latest', async () => {
  const { emulator, deploy } = await studio()
  const ids: string[] = []
  for (let made = 0; made < 120; made++)
    ids.push(await deploy({ tags: [made % 2 === 0 ? 'Even' : 'odd', `match-${made}`] }))
  const searched = async (text: string) =>
    (JSON.parse(await read(emulator, `/_emulator/state?q=${encodeURIComponent(text)}`)) as PageState).deployments
  expect(await searched('match-3')).toMatchObject({ search: 'match-3', found: 11 })
  expect((await searched('MATCH-3 odd')).found).toBe(6)
  const even = await searched(' even ')
  expect([even.search, even.found, even.latest.length]).toEqual(['even', 60, 50])
  expect(even.latest[0]?.request_id).toBe(ids[118])
  expect((await searched('nothing')).latest).toEqual([])
})

test('neither the page state nor a page contains secrets or addresses of players', async () => {
  const hooks: string[] = []
  const { emulator, call, clock, deploy } = await studio({
    fetch: async (url) => {
      hooks.push(url)
      return new Response()
    },
    launch: async ({ env }) => {
      throw new Error(`cannot start with ${JSON.stringify(env)}`)
    },
  })
  const stored = await call('POST', '/v1/storage/endpoint', {
    name: 'logs',
    access_key_id: 'KEY-ID',
    secret_access_key: 'KEY-SECRET',
    endpoint: 'https://storage.example.com',
    bucket: 'BUCKET-NAME',
  })
  const made = await call('POST', '/v1/app/arena/version', {
    ...version,
    name: '2.0',
    private_username: 'PULL-USER',
    private_token: 'PULL-TOKEN',
    envs: [{ key: 'A', value: 'ENV-SECRET', is_secret: true }],
  })
  const id = await deploy({
    version: '2.0',
    users: [{ user_type: 'ip_address', user_data: { ip_address: '192.0.2.41' } }],
    environment_variables: [{ key: 'B', value: 'ENV-HIDDEN', is_hidden: true }],
    webhook_on_error: { url: 'http://127.0.0.1/HOOK' },
  })
  const users = [{ ip: '198.51.100.42' }]
  const opened = await call('POST', '/v1/relays/sessions', { users, webhook_url: 'http://127.0.0.1/HOOK' })
  expect([stored.status, made.status, opened.status]).toEqual([200, 200, 200])
  await clock.advance(60_000)
  expect(hooks).toEqual(['http://127.0.0.1/HOOK', 'http://127.0.0.1/HOOK'])
  const relay = (await call('GET', `/v1/relays/sessions/${idOfSession(opened.body)}`)).body as RelaySession
  const deployment = emulator.inspect().deployments[0]

  const keys = ['KEY-ID', 'KEY-SECRET', 'PULL-USER', 'PULL-TOKEN', 'ENV-SECRET', 'ENV-HIDDEN', 'HOOK']
  const secrets = [
    ...keys,
    '192.0.2.41',
    '198.51.100.42',
    emulator.environment(id)?.['SERVICE_DELETE_TOKEN'],
    relay.authorization_token,
    relay.session_users?.[0]?.authorization_token,
    relay.relay?.ip,
  ].map(String)
  // The server's own address, which its variables contain.
  const address = String(deployment?.public_ip)
  for (const path of ['/_emulator', '/_emulator/state', `/_emulator/deployments/${id}`]) {
    const text = await read(emulator, path)
    expect(text).toContain('the container could not be started')
    expect(secrets.filter((secret) => secret.length < 4 || text.includes(secret))).toEqual([])
    expect(text.includes(address)).toBe(path.endsWith(id))
  }
})

const idOfSession = (body: unknown) => (body as { session_id: string }).session_id
