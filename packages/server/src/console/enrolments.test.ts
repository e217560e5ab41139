/** Tests enrolled servers in the console: their keys in the list of servers, and the button that revokes a key. */
import { createHash } from 'node:crypto'
import { EnrolmentBody } from '@muster/matchmaker/internal'
import { expect, test } from 'vitest'
import type { Audit, Now, ServerList } from '@muster/console/internal'
import { openConsole } from './open-console.fixture.js'

const KEY = 'a-key-of-the-arena-for-own-machines'
const keyId = createHash('sha256').update(KEY).digest('hex').slice(0, 8)
const queues = [{ name: 'duel', matchSize: 2, pool: 'arena' }]
const arena = {
  name: 'arena',
  deploy: { application: 'game', version: '1' },
  places: [{ name: 'Oslo', latitude: 59.9, longitude: 10.7 }],
  reuse: { maxMatches: 20 },
}
const keyed = { ...arena, enrol: [{ key: KEY, place: 'Oslo', max: 6, matches: 4, builds: ['1', '2'] }] }

async function open() {
  const spending = () => ({ maxServers: 10, maxCreatesPerMinute: 60, pricePerMinute: 0.5, currency: 'EUR' })
  const world = await openConsole({ queues, matchmaker: { pools: [keyed] }, spending })
  const { matchmaker, clock, ask } = world
  matchmaker.start()
  const body = EnrolmentBody.parse({
    instance: 'one',
    name: 'slot-1',
    build: '2',
    address: { host: '192.0.2.1', ports: { game: { port: 7777 } } },
  })
  const { id } = await matchmaker.enrolServer(KEY, body, '192.0.2.1')
  await clock.advance(1000)
  const list = async () => {
    const answer = await ask('/console/api/servers', { token: 'looker' })
    expect(answer.text).not.toContain(KEY)
    return answer.body as ServerList
  }
  const revoke = (token = 'operator') => ask(`/console/api/enrolments/${keyId}/revoke`, { token, method: 'POST' })
  return { ...world, id, list, revoke }
}

test('the console server list shows the source of each server, and the number of servers of each key', async () => {
  const { list, id } = await open()
  const { servers, sources, keys } = await list()
  expect(servers).toMatchObject([{ id, pool: 'arena', source: 'enrolled', place: 'Oslo', state: 'warm', cost: 0 }])
  // Several slots of one machine have the same host.
  expect(servers[0]?.host).toBe('slot-1')
  expect(sources).toEqual([{ source: 'enrolled', servers: 1, draining: 0 }])
  const allowed = { servers: 6, matches: 4, builds: ['1', '2'] }
  expect(keys).toEqual([{ key: keyId, pool: 'arena', place: 'Oslo', servers: 1, allowed, builds: ['2'] }])
})

test('the totals of the console count an enrolled server neither for maxServers nor for the cost', async () => {
  const { listen, clock } = await open()
  const feed = await listen('looker')
  await clock.advance(60_000)
  const { servers } = await feed.until<Now>('now')
  expect(servers.byState).toContainEqual({ state: 'running', count: 1 })
  expect(servers).toMatchObject({ own: 1, most: 10, money: { perHourNow: 0, lastHour: 0 } })
})

test('the console expects no share of matches on warm servers while enrolled servers take them', async () => {
  const { list, matchmaker, clock } = await open()
  for (const id of ['ann', 'ben'])
    matchmaker.createTicket({ queue: 'duel', players: [{ id, coordinates: { latitude: 60, longitude: 10 } }] })
  await clock.advance(1000)
  expect((await list()).pools).toMatchObject([{ asked: 1, hits: 1, expectedHit: null }])
})

test('an enrolment key is revoked only after its removal from the configuration, and is logged', async () => {
  const { list, revoke, matchmaker, acts, ask } = await open()
  expect(await revoke()).toMatchObject({
    status: 409,
    body: { message: expect.stringContaining('Remove the key first') },
  })
  expect(acts).toEqual([])
  matchmaker.reconfigure(queues, { pools: [arena] })
  expect((await list()).keys).toMatchObject([{ key: keyId, servers: 1, allowed: null, builds: ['2'] }])
  expect((await revoke('looker')).status).toBe(403)
  expect((await revoke()).status).toBe(204)
  expect(acts).toEqual([{ who: 'olga', what: 'revoke-enrolment', id: keyId }])
  expect(((await ask('/console/api/acts', { token: 'looker' })).body as Audit).acts).toMatchObject(acts)
  expect(await list()).toMatchObject({ keys: [], sources: [], servers: [] })
})
