import { afterEach, expect, test } from 'vitest'
import { type Fate, gatherFaults, openApi } from './api.fixture.js'
import { createServers, type ServerPage } from './servers.js'

let opened: ReturnType<typeof openApi> | undefined
afterEach(async () => {
  await opened?.close()
  opened = undefined
})

/** Starts Muster with one server of a pool, which lists itself as its orders require. */
function open() {
  const api = (opened = openApi({}, [
    {
      name: 'arena',
      deploy: { application: 'game', version: '1' },
      places: [{ name: 'Frankfurt', latitude: 50.1, longitude: 8.7 }],
      at: [{ cron: '* * * * *', minutes: 2, min: 1 }],
      custom: {},
    },
  ]))
  const players: Record<string, 'in'> = {}
  let seq = 0
  const host = async (method: string, path: string, body: object) => {
    const token = api.tokenOfServer()
    const answer = await api.api(
      new Request(`http://play.example${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ instance: 'one', ...body }),
      }),
      { remoteAddress: '192.0.2.9' },
    )
    return (await answer.json()) as { readonly host?: { readonly session: string; readonly name: string } }
  }
  /** Registers the server and lists it. */
  const list = async (listing: object = { name: 'Night CTF', seats: 2 }) => {
    await host('POST', '/servers', {})
    await report(listing)
  }
  const report = async (listing: object) => {
    seq += 1
    return host('PUT', '/servers/me', { seq, listing: { ...listing, players } })
  }
  return { ...api, players, list, report, host }
}
const settled = <Value>(promise: Promise<Value>) => {
  const result: { value?: Value; error?: unknown } = {}
  promise.then(
    (value) => (result.value = value),
    (error: unknown) => (result.error = error),
  )
  return result
}

test('a player can list and watch servers, and can take, keep and give back a seat', async () => {
  const { connect, run, list } = open()
  await run(8)
  await list()
  await run(2)
  const servers = createServers(connect('ann'))
  const pages: ServerPage[] = []
  const watching = new AbortController()
  const faults = gatherFaults()
  const show = (page: ServerPage) => {
    pages.push(page)
    throw new Error('of the game')
  }
  void servers.watch({ where: ['seats.free ge 1'] }, show, watching.signal)
  const listed = settled(servers.list({ search: 'night', sort: '-seats.free', limit: 5 }))
  await run(2)
  const [server] = listed.value?.servers ?? []
  expect(server).toMatchObject({
    name: 'Night CTF',
    open: true,
    seats: { total: 2, free: 2 },
    city: expect.any(String),
  })
  expect(listed.value).toMatchObject({ total: 1, next: null })
  const joined = new AbortController()
  const joining = settled(servers.join(server?.id ?? '', { signal: joined.signal }))
  await run(3)
  joined.abort()
  const seat = joining.value
  expect(seat).toMatchObject({ serverId: server?.id, assignment: { joinToken: expect.any(String) } })
  expect(pages.map((page) => page.servers[0]?.seats.free)).toEqual([2, 1])
  const renewed = settled(seat?.renew() ?? Promise.reject(new Error('no seat')))
  await run(1)
  expect(renewed.value).toMatchObject({ fqdn: seat?.assignment.fqdn })
  const left = settled(seat?.leave() ?? Promise.reject(new Error('no seat')))
  await run(3)
  expect(left).toEqual({ value: undefined })
  watching.abort()
  await run(3)
  const before = pages.length
  await run(5)
  expect(pages.length).toBe(before)
  expect(faults).toHaveLength(before)
  const gone = settled(seat?.renew() ?? Promise.resolve(undefined))
  await run(1)
  expect(gone.error).toMatchObject({ code: 'no-such-seat' })
})

test('beacons are requested only for server filters by ping', async () => {
  const { connect, run, sent } = open()
  await run(8)
  const servers = createServers(connect('ann'))
  const beacons = () => sent.filter((one) => one.endsWith('/locations/beacons')).length
  const watching = new AbortController()
  void servers.watch({ where: ['mode eq ping'] }, () => {}, watching.signal)
  settled(servers.list())
  settled(servers.list({ sort: '-seats.taken', search: 'ping' }))
  settled(servers.quickJoin())
  settled(servers.list({ sort: 'ping', ping: false }))
  await run(2)
  watching.abort()
  expect(beacons()).toBe(0)
  for (const query of [{ ping: true }, { sort: 'ping,-seats.taken' }, { where: ['ping le 80'] }]) {
    const before = beacons()
    settled(servers.list(query))
    settled(servers.quickJoin(query))
    await run(2)
    expect(beacons()).toBeGreaterThan(before)
  }
})

test('a quick join takes the best server, and a full server or wrong filter is refused with a reason', async () => {
  const { connect, run, list } = open()
  await run(8)
  await list({ name: 'Small', seats: 1 })
  await run(2)
  const seat = settled(createServers(connect('ann')).quickJoin())
  await run(2)
  expect(seat.value).toMatchObject({ assignment: { fqdn: expect.any(String) } })
  const ben = createServers(connect('ben'))
  const full = settled(ben.join(seat.value?.serverId ?? ''))
  const none = settled(ben.quickJoin({ where: ['seats.free ge 1'] }))
  const wrong = settled(ben.list({ where: ['nonsense'] }))
  await run(2)
  expect(full.error).toMatchObject({ name: 'MusterError', code: 'server-full' })
  expect(none.error).toMatchObject({ status: expect.any(Number), code: expect.stringMatching(/^\w+/) })
  expect(wrong.error).toMatchObject({ status: 400, code: 'filter', field: 'where' })
})

test('the client follows a server that its player starts until it has an address or is given back', async () => {
  const { connect, run, report, host, matchmaker } = open()
  await run(8)
  const servers = createServers(connect('ann'))
  await host('POST', '/servers', {})
  const started = settled(servers.start('arena', { name: 'Mine' }))
  await run(2)
  expect(started).toEqual({})
  const orders = await host('PUT', '/servers/me', { seq: 0 })
  await report({ name: 'Mine', seats: 4, session: orders.host?.session })
  await run(3)
  expect(orders.host).toMatchObject({ name: 'Mine' })
  expect(started.error).toBeUndefined()
  expect(started.value).toMatchObject({ assignment: { joinToken: expect.any(String) } })
  // Abort between two reads of the seat, and during a read.
  for (const during of ['arrives', 'lost'] as const) {
    let fate: Fate = 'arrives'
    const ending = new AbortController()
    const ben = createServers(connect('ben', () => fate))
    const given = settled(ben.start('arena', {}, { signal: ending.signal }))
    await run(2)
    fate = during
    await run(2)
    fate = 'arrives'
    expect(matchmaker.seatsOf('ben')).toHaveLength(1)
    ending.abort()
    await run(2)
    expect(given.error).toMatchObject({ code: 'cancelled' })
    expect(matchmaker.seatsOf('ben')).toEqual([])
  }
})

test('a quick join that starts a server gives it the name that the player chose', async () => {
  const { connect, run, host } = open()
  await run(8)
  await host('POST', '/servers', {})
  settled(createServers(connect('ann')).quickJoin({ where: ['seats.free ge 2'], start: { name: 'Mine' } }))
  await run(2)
  const orders = await host('PUT', '/servers/me', { seq: 0 })
  expect(orders.host).toMatchObject({ name: 'Mine' })
})

test('a player who gives up while the request for a seat is under way keeps no seat', async () => {
  const { connect, run, list, matchmaker, sent } = open()
  await run(8)
  await list()
  await run(2)
  const servers = createServers(connect('ben', () => 'late'))
  const ending = new AbortController()
  const { signal } = ending
  const given = settled(servers.quickJoin({}, { signal }))
  await run(1)
  ending.abort()
  await run(8)
  expect(given.error).toMatchObject({ code: 'cancelled' })
  expect(matchmaker.seatsOf('ben')).toEqual([])
  const before = sent.length
  const never = settled(servers.start('arena', {}, { signal }))
  await run(1)
  expect(never.error).toMatchObject({ code: 'cancelled' })
  expect(sent).toHaveLength(before)
})

test('watching servers ends with the refusal of an invalid query, instead of repeating it', async () => {
  const { connect, run, sent } = open()
  await run(8)
  const servers = createServers(connect('ann'))
  const pages: ServerPage[] = []
  const watched = settled(
    servers.watch({ where: ['seats.free'] }, (page) => pages.push(page), new AbortController().signal),
  )
  await run(3)
  expect(watched.error).toMatchObject({ code: 'filter', status: 400, field: 'where' })
  const asked = sent.length
  await run(10)
  expect([sent.length, pages.length]).toEqual([asked, 0])
  const ending = new AbortController()
  const ended = settled(servers.watch({}, () => {}, ending.signal))
  await run(3)
  ending.abort()
  await run(1)
  expect(ended).toEqual({ value: undefined })
})
