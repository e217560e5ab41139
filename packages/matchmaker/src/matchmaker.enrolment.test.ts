import { createManualClock, seededRandom } from '@muster/core/clock'
import { createMemoryStore, type PoolDefinition, type StoreMemory } from '@muster/hosting'
import { describe, expect, test } from 'vitest'
import { KEY, NEXT_KEY, open, own, queues } from './enrolled-servers.fixture.js'

describe('enrolled servers, which Muster has not started', () => {
  test('enrolled servers serve matches without any request to the deployment service', async () => {
    const { start, run, join, status, matchmaker, service, processes, seen } = open()
    await run(500)
    for (const slot of ['a', 'b', 'c', 'd', 'e', 'f']) expect((await start(`fra-1/${slot}`)).status).toBe(200)
    join('ann', 'ben')
    join('cas', 'dan')
    await run(1000)
    expect([status('ann-ben'), status('cas-dan')]).toEqual(['HOST_ASSIGNED', 'HOST_ASSIGNED'])
    expect(matchmaker.getTicket('ann-ben')?.assignment).toMatchObject({
      fqdn: '192.0.2.1',
      ports: { game: { external: 7777, protocol: 'UDP', link: '192.0.2.1:7777' } },
      location: { city: 'Frankfurt' },
    })
    const first = processes.find(({ matches }) => matches.length > 0)
    first?.over.add(first.matches[0] ?? '')
    await run(1000)
    expect(seen.matchOver).toMatchObject([{ reason: 'over' }])
    expect(first?.status).toBe(200)
    expect(service.calls.create).toEqual([])
    expect(service.calls.stop).toEqual([])
  })

  test('enrolled servers appear in /inspect/servers with their source and the id of their key', async () => {
    const { start, run, send } = open()
    await run(500)
    await start('fra-1')
    const { json } = await send('backend', 'GET', '/inspect/servers')
    expect(json).toMatchObject({ servers: [{ source: 'enrolled', enrolment_key: '73dc7b7a', place: 'Frankfurt' }] })
    expect(JSON.stringify(json)).not.toContain(KEY)
  })

  test('tickets keep searching while all enrolled servers are taken, and get a server once it is free', async () => {
    const { start, run, join, status, processes } = open()
    await run(500)
    join('ann', 'ben')
    await run(2000)
    expect(status('ann-ben')).toBe('SEARCHING')
    await start('fra-1')
    await run(1000)
    join('cas', 'dan')
    await run(3000)
    expect([status('ann-ben'), status('cas-dan')]).toEqual(['HOST_ASSIGNED', 'SEARCHING'])
    processes[0]?.over.add(processes[0].matches[0] ?? '')
    await run(2000)
    expect(status('cas-dan')).toBe('HOST_ASSIGNED')
  })

  test('matches use enrolled servers first, and a server is created only if none of them is free', async () => {
    const mixed: PoolDefinition = { ...own, deploy: { application: 'game', version: '7' } }
    const { start, run, join, status, service } = open({ pools: [mixed] })
    await run(500)
    expect((await start('fra-1', 'one', { build: '7' })).status).toBe(200)
    join('ann', 'ben')
    await run(1000)
    expect([status('ann-ben'), service.calls.create.length]).toEqual(['HOST_ASSIGNED', 0])
    join('cas', 'dan')
    await run(1000)
    expect(service.calls.create).toHaveLength(1)
  })

  test('enrolled servers are never surplus, and count in no limit on paid servers', async () => {
    const mixed: PoolDefinition = { ...own, deploy: { application: 'game', version: '7' }, keepIdleSeconds: 1 }
    const { start, run, states, matchmaker } = open({ pools: [mixed], maxServers: 1 })
    await run(500)
    for (const slot of ['a', 'b', 'c']) await start(slot, slot, { build: '7' })
    await run(30_000)
    expect(states()).toEqual(['IDLE', 'IDLE', 'IDLE'])
    expect(matchmaker.inspect().servers).toHaveLength(3)
    expect(matchmaker.inspect().pools).toMatchObject([{ idle: 3, idleHours: 0 }])
    matchmaker.pausePool('arena', true)
    await run(5000)
    expect(states()).toEqual(['IDLE', 'IDLE', 'IDLE'])
  })

  test('an enrolled server is lost with its match after 85 s of silence, and its token then gets 410', async () => {
    const { start, run, join, status, seen, report, states } = open()
    await run(500)
    const server = await start('fra-1')
    join('ann', 'ben')
    await run(1000)
    server.isSilent = true
    await run(84_000)
    expect(states()).toEqual(['LOST'])
    expect(seen.matchOver).toBeUndefined()
    await run(2000)
    expect(seen.matchOver).toMatchObject([{ reason: 'lost', playerIds: ['ann', 'ben'] }])
    expect(status('ann-ben')).not.toBe('SEARCHING')
    expect(states()).toEqual([])
    expect(await report(server)).toBe(410)
  })

  test('enrolled servers are not lost when the clock jumps in either direction', async () => {
    const { start, run, clock, states } = open()
    await run(500)
    await start('fra-1')
    for (const ms of [3_600_000, -7_200_000]) {
      clock.step(ms)
      await run(2000)
      expect(states()).toEqual(['IDLE'])
    }
  })

  test('an enrolled server that asked to drain ends, and one that an operator drains stays unused', async () => {
    const { start, run, states, matchmaker, join, status } = open()
    await run(500)
    const leaving = await start('a')
    const kept = await start('b')
    leaving.isDraining = true
    await matchmaker.drainServer(matchmaker.inspect().servers[1]?.id ?? '')
    await run(2000)
    expect([leaving.status, kept.status]).toEqual([410, 200])
    expect(states()).toEqual(['DRAINING'])
    join('ann', 'ben')
    await run(1000)
    expect(status('ann-ben')).toBe('SEARCHING')
    // The supervisor restarts the process, which must drain as before.
    kept.isSilent = true
    await run(26_000)
    const again = await start('b', 'b-2')
    await run(1000)
    expect([again.status, states(), status('ann-ben')]).toEqual([200, ['DRAINING'], 'SEARCHING'])
  })
})

describe('the enrolment of a server', () => {
  test('a repeated enrolment gets the same answer, and a restarted process replaces its earlier server', async () => {
    const { enrol, enrolment, run, start, join, seen, report } = open()
    await run(500)
    const first = await start('fra-1', 'one')
    const again = await enrol(enrolment('fra-1', 'one'))
    expect(again).toMatchObject({ status: 200, json: { token: first.token } })
    join('ann', 'ben')
    await run(1000)
    expect(await enrol(enrolment('fra-1', 'two'))).toMatchObject({ status: 409, json: { code: 'name-in-use' } })
    first.isSilent = true
    await run(26_000)
    const second = await enrol(enrolment('fra-1', 'two'))
    expect(second.status).toBe(200)
    expect(second.json['token']).not.toBe(first.token)
    expect(seen.matchOver).toMatchObject([{ reason: 'lost' }])
    expect(await report(first)).toBe(410)
    expect(await enrol(enrolment('fra-1', 'one'))).toMatchObject({ status: 410, json: { code: 'server-gone' } })
  })

  test('an enrolment is refused if its key does not allow its build, its address or a further server', async () => {
    const terms = { ...own.enrol[0], max: 1, matches: 2, hosts: ['203.0.113.0/24', 'game.example.com'], builds: ['7'] }
    const { enrol, enrolment, run, matchmaker, seen } = open({ pools: [{ ...own, enrol: [terms] }] })
    await run(500)
    const at = (host?: string, more: object = {}) =>
      enrol({ ...enrolment('a', 'one'), build: '7', matches: 9, address: { host, ports: {} }, ...more })
    expect(await at('203.0.113.9', { build: '6' })).toMatchObject({ status: 409, json: { code: 'wrong-build' } })
    const message = expect.stringMatching(/^Pool "arena" refused a server with the key [\da-f]{8}: wrong-build\./)
    expect(seen.problem).toMatchObject([{ during: 'server', error: { message } }])
    expect(await at('203.0.113.9', { build: undefined })).toMatchObject({ status: 409, json: { code: 'wrong-build' } })
    for (const host of ['198.51.100.1', 'other.example.com', '::1', undefined])
      expect(await at(host)).toMatchObject({ status: 403, json: { code: 'address' } })
    expect((await at('game.example.com')).status).toBe(200)
    expect(await at('203.0.113.9', { name: 'b' })).toMatchObject({ status: 409, json: { code: 'full' } })
    expect(matchmaker.inspect().servers).toMatchObject([{ matchesAtOnce: 2, build: '7' }])
  })

  test('an enrolment may give only the address of its request, which trusted proxies can forward', async () => {
    const { enrol, enrolment, run } = open()
    await run(500)
    const at = (host: string, from: string, proxied = '') =>
      enrol({ ...enrolment(host, 'one'), address: { host, ports: {} } }, { from, proxied })
    expect((await at('203.0.113.9', '192.0.2.1')).status).toBe(403)
    expect((await at('203.0.113.9', '192.0.2.1', '203.0.113.9')).status).toBe(403)
    expect((await at('203.0.113.9', '10.0.0.1', '203.0.113.9')).status).toBe(200)
    expect((await at('192.0.2.1', '::ffff:192.0.2.1')).status).toBe(200)
  })

  test('an enrolment may write its IPv6 address in any form', async () => {
    const terms = { ...own.enrol[0], max: 9, hosts: ['2001:DB8:0:1::/64', '2001:0db8::7'] }
    const { enrol, enrolment, run } = open({ pools: [{ ...own, enrol: [terms] }] })
    await run(500)
    const at = (host: string) => enrol({ ...enrolment(host, 'one'), address: { host, ports: {} } })
    expect((await at('2001:db8:0:1:0:0:0:5')).status).toBe(200)
    expect((await at('2001:DB8::0:7')).status).toBe(200)
    expect((await at('2001:db8::8')).status).toBe(403)
    const alone = open()
    await alone.run(500)
    const body = { ...enrolment('d', 'one'), address: { host: '2001:DB8::0:5', ports: {} } }
    expect((await alone.enrol(body, { from: '2001:db8::5' })).status).toBe(200)
  })

  test('an enrolment with a wrong key gets 401, and counts as a guess of its address', async () => {
    const { enrol, enrolment, run, send } = open()
    await run(500)
    const statuses = new Set<number>()
    for (let nth = 0; nth < 300; nth += 1) {
      const key = `a-wrong-key-of-the-arena-number-${nth}`
      statuses.add((await enrol(enrolment('a', 'one'), { key, from: '192.0.2.7' })).status)
    }
    expect([...statuses]).toEqual([401, 429])
    expect((await send(KEY, 'PUT', '/servers/me', { instance: 'one', seq: 1 })).status).toBe(401)
    expect((await send(KEY, 'GET', '/players/ann')).status).toBe(401)
    expect((await send(KEY, 'POST', '/servers/e-1/drain')).status).toBe(401)
  })

  test('enrolments are accepted ten times a second per key, for any server names', async () => {
    const { enrol, enrolment, run, matchmaker } = open()
    await run(500)
    const statuses: number[] = []
    for (let nth = 0; nth < 80; nth += 1) statuses.push((await enrol(enrolment(`name-${nth}`, `i-${nth}`))).status)
    const count = (status: number) => statuses.filter((one) => one === status).length
    expect([count(200), count(409), count(429)]).toEqual([6, 44, 30])
    expect(matchmaker.inspect().servers).toHaveLength(6)
  })
})

test.each(['a tick', 'an enrolment'])(
  'no process takes the name of a server that could not report, if %s comes first after a suspension',
  async (first) => {
    const { start, run, join, enrol, enrolment, matchmaker, clock, states, seen } = open()
    await run(500)
    const server = await start('a')
    join('ann', 'ben')
    await run(1000)
    await clock.advance(900_000)
    if (first === 'a tick') await matchmaker.tick()
    const refused = { status: 409, json: { code: 'name-in-use' } }
    expect(await enrol(enrolment('a', 'twin'))).toMatchObject(refused)
    await run(1000)
    expect([server.status, states(), seen.matchOver]).toEqual([200, ['PLAYING'], undefined])
    // A server that stays silent loses its name as usual.
    server.isSilent = true
    await run(24_000)
    expect(await enrol(enrolment('a', 'twin'))).toMatchObject(refused)
    await run(2000)
    expect((await enrol(enrolment('a', 'twin'))).status).toBe(200)
  },
)

test('a server that was lost before a suspension does not keep its name after it', async () => {
  const { start, run, enrol, enrolment, matchmaker, clock } = open()
  await run(500)
  const server = await start('a')
  server.isSilent = true
  await run(26_000)
  await clock.advance(900_000)
  await matchmaker.tick()
  expect((await enrol(enrolment('a', 'twin'))).status).toBe(200)
})

describe('the token of an enrolled server', () => {
  test('an enrolled server’s token is valid for its own matches only, and cannot change build or place', async () => {
    const { start, run, join, send, processes, matchmaker } = open()
    await run(500)
    const [thief, other] = [await start('thief'), await start('other')]
    join('ann', 'ben')
    join('cas', 'dan')
    await run(1000)
    const foreign = other.matches[0] ?? ''
    const body = { instance: thief.instance, seq: 1000, matches: [{ id: foreign, status: 'over' }] }
    expect((await send(thief.token, 'PUT', '/servers/me', body)).status).toBe(200)
    expect(other.matches).toEqual([foreign])
    expect((await send(thief.token, 'DELETE', `/matches/${foreign}`)).status).toBe(403)
    expect((await send(thief.token, 'GET', '/players/ann')).status).toBe(401)
    expect(
      (await send(thief.token, 'POST', '/servers', { instance: thief.instance, build: 'x', matches: 64 })).status,
    ).toBe(200)
    expect(matchmaker.inspect().servers[0]).toMatchObject({ build: undefined, place: 'Frankfurt' })
    expect(processes).toHaveLength(2)
  })
})

describe('a key for enrolments', () => {
  test('servers of an enrolment key drain once another key replaces that key in the configuration', async () => {
    const both = { ...own, enrol: [...own.enrol, { ...own.enrol[0], key: NEXT_KEY }] }
    const { start, run, enrol, enrolment, matchmaker, join, seen } = open({ pools: [both] })
    await run(500)
    const playing = await start('a')
    const idle = await start('b')
    join('ann', 'ben')
    await run(1000)
    matchmaker.reconfigure(queues, { pools: [{ ...own, enrol: [{ ...own.enrol[0], key: NEXT_KEY }] }] })
    await run(3000)
    const free = [playing, idle].find(({ matches }) => matches.length === 0)
    const busy = [playing, idle].find(({ matches }) => matches.length > 0)
    expect([free?.status, busy?.status]).toEqual([410, 200])
    expect((await enrol(enrolment('b', 'b-2'))).status).toBe(401)
    expect((await enrol(enrolment('b', 'b-2'), { key: NEXT_KEY })).status).toBe(200)
    expect(seen.matchOver).toBeUndefined()
  })

  test('a lowered `max` ends no server, but a restarted process gets a place only within the new limit', async () => {
    const { start, run, enrol, enrolment, matchmaker } = open()
    await run(500)
    const [, second, third] = [await start('a'), await start('b'), await start('c')]
    matchmaker.reconfigure(queues, { pools: [{ ...own, enrol: [{ ...own.enrol[0], max: 2 }] }] })
    await run(3000)
    expect(matchmaker.inspect().servers).toHaveLength(3)
    third.isSilent = true
    await run(26_000)
    expect(await enrol(enrolment('c', 'c-2'))).toMatchObject({ status: 409, json: { code: 'full' } })
    await run(60_000)
    second.isSilent = true
    await run(26_000)
    expect((await enrol(enrolment('b', 'b-2'))).status).toBe(200)
  })

  test('an enrolment key removed from the configuration can be revoked: its matches and tokens end', async () => {
    const { start, run, join, send, matchmaker, seen, acts, report } = open()
    await run(500)
    const server = await start('a')
    join('ann', 'ben')
    await run(1000)
    const revoke = (who = 'backend') => send(who, 'POST', '/enrolments/73dc7b7a/revoke')
    expect((await revoke('ann')).status).toBe(403)
    expect((await revoke(server.token)).status).toBe(401)
    expect(await revoke()).toMatchObject({ status: 409, json: { code: 'key-in-use' } })
    matchmaker.reconfigure(queues, { pools: [{ ...own, enrol: [{ ...own.enrol[0], key: NEXT_KEY }] }] })
    expect((await revoke()).status).toBe(202)
    expect(acts).toEqual([{ who: 'backend', what: 'revoke-enrolment', id: '73dc7b7a' }])
    expect(seen.matchOver).toMatchObject([{ reason: 'stopped' }])
    expect(await report(server)).toBe(410)
  })
})

describe('enrolled servers after a restart of Muster', () => {
  test('enrolled servers keep token, id and matches after a restart, unless they are silent for 85 s', async () => {
    const memory: StoreMemory = new Map()
    const before = open({ store: createMemoryStore(memory) })
    await before.run(500)
    const playing = await before.start('a')
    await before.start('b')
    before.join('ann', 'ben')
    await before.run(1000)
    const ids = before.matchmaker.inspect().servers.map(({ id }) => id)
    const [kept = playing] = before.processes.filter(({ matches }) => matches.length > 0)
    await before.matchmaker.close({ handOver: true })

    const after = open({ store: createMemoryStore(memory), clock: before.clock })
    after.processes.push(kept)
    const { advance } = before.clock
    const run = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 500) {
        await after.matchmaker.tick()
        await advance(500)
        if (!kept.isSilent) for (const _ of [1, 2]) await after.report(kept)
      }
    }
    await after.matchmaker.ready()
    expect(await after.enrol(after.enrolment('a', 'thief'))).toMatchObject({
      status: 409,
      json: { code: 'name-in-use' },
    })
    await run(2000)
    expect(after.matchmaker.inspect().servers).toMatchObject([{ state: 'PLAYING' }])
    expect(ids).toContain(after.matchmaker.inspect().servers[0]?.id)
    expect(after.status('ann-ben')).toBe('HOST_ASSIGNED')
    await run(90_000)
    expect(after.seen.deploymentStopped).toMatchObject([{ reason: 'lost' }])
    expect(kept.status).toBe(200)
  })
})

test.each([
  ['the clock runs normally', 0, 0],
  ['the clock is set ahead by an hour', 3_600_000, 0],
  ['the clock is set back by an hour', -3_600_000, 0],
  ['the clock after a restart is ahead by an hour', 0, 3_600_000],
])('if %s, a match on an enrolled server ends after maxDurationMs', async (_, stepMs, aheadMs) => {
  const memory: StoreMemory = new Map()
  const pools = [{ ...own, deploy: { application: 'game', version: '1', maxDurationMs: 120_000 } }]
  const before = open({ store: createMemoryStore(memory), pools })
  await before.run(500)
  const playing = await before.start('a', 'a-1', { build: '1' })
  before.clock.step(stepMs)
  before.join('ann', 'ben')
  await before.run(40_000)
  expect(before.status('ann-ben')).toBe('HOST_ASSIGNED')
  await before.matchmaker.close({ handOver: true })

  // The next process starts with the present wall clock.
  const clock = createManualClock({ start: before.clock.now() + stepMs + aheadMs })
  const after = open({ store: createMemoryStore(memory), clock, pools })
  const run = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 500) {
      await after.matchmaker.tick()
      await clock.advance(500)
      await after.report(playing)
    }
  }
  await after.matchmaker.ready()
  await run(60_000)
  expect(after.seen.matchOver).toBeUndefined()
  // If the match seemed to have lasted too long at the restart, its duration begins again.
  await run(aheadMs > 0 ? 61_000 : 40_000)
  expect(after.seen.matchOver).toMatchObject([{ reason: 'max-duration', ticketIds: ['ann-ben'] }])
})

test('a match whose duration began again at a restart ends, however often Muster restarts', async () => {
  const memory: StoreMemory = new Map()
  const pools = [{ ...own, deploy: { application: 'game', version: '1', maxDurationMs: 120_000 } }]
  let { clock, ...life } = open({ store: createMemoryStore(memory), pools })
  const playing = await life.start('a', 'a-1', { build: '1' })
  life.join('ann', 'ben')
  let passed = 0
  const run = async (ms: number) => {
    for (const end = passed + ms; passed < end && life.seen.matchOver === undefined; passed += 500) {
      await life.matchmaker.tick()
      await clock.advance(500)
      await life.report(playing)
    }
  }
  await run(10_000)
  expect(life.status('ann-ben')).toBe('HOST_ASSIGNED')
  passed = 0
  // Muster is down at the end of the match, and then restarts every 50 s.
  for (let downMs = 300_000; passed < 600_000 && life.seen.matchOver === undefined; downMs = 0) {
    await life.matchmaker.close({ handOver: true })
    clock = createManualClock({ start: clock.now() + downMs })
    life = open({ store: createMemoryStore(memory), clock, pools })
    await life.matchmaker.ready()
    await run(50_000)
  }
  expect(life.seen.matchOver).toMatchObject([{ reason: 'max-duration' }])
  expect(passed).toBeGreaterThan(115_000)
  expect(passed).toBeLessThan(125_000)
})

test('a process gets 410 once its enrolled server has ended, and can enrol after a restart of Muster', async () => {
  const memory: StoreMemory = new Map()
  const before = open({ store: createMemoryStore(memory) })
  await before.run(500)
  const server = await before.start('a', 'one')
  const [{ id = '' } = {}] = before.matchmaker.inspect().servers
  server.isDraining = true
  await before.run(1000)
  expect([server.status, before.states()]).toEqual([410, []])
  expect(await before.enrol(before.enrolment('a', 'one'))).toMatchObject({ status: 410 })
  await before.matchmaker.close()

  const after = open({ store: createMemoryStore(memory), clock: before.clock, random: seededRandom(2) })
  await after.matchmaker.ready()
  const again = await after.enrol(after.enrolment('a', 'one'))
  expect(again.status).toBe(200)
  expect(again.json['token']).not.toBe(server.token)
  expect(after.matchmaker.inspect().servers.map((one) => one.id)).not.toContain(id)
  expect(await after.report(server)).toBe(410)
})

test.each([
  [{ enrol: [{ key: 'short', place: 'Frankfurt', max: 1 }] }, 'enrol.0.key: must have 32 to 512'],
  [{ enrol: [{ key: KEY, place: 'Oslo', max: 1 }] }, 'enrol.0.place: must be one of the pool'],
  [
    { enrol: [{ key: KEY, place: 'Frankfurt', max: 1, hosts: ['203.0.113.0/40'] }] },
    'enrol.0.hosts.0: must be a network',
  ],
  [{ enrol: [own.enrol[0], own.enrol[0]] }, 'enrol.1.key: is the key of an earlier entry, too'],
  [{ enrol: [] }, 'deploy: must be given'],
])('a pool whose enrolment settings are %j is refused', (change, message) => {
  expect(() => open({ pools: [{ ...own, ...change } as PoolDefinition] })).toThrow(message)
  expect(() => open({ pools: [{ ...own, ...change } as PoolDefinition] })).not.toThrow('short')
})

test('two pools cannot share an enrolment key, and a custom source cannot be named `enrolled`', () => {
  const none = { allocate: async () => {}, poll: async () => [], stop: async () => {} }
  expect(() => open({ sources: { enrolled: none } })).toThrow('must not be enrolled')
  const other = { ...own, name: 'other' }
  expect(() => open({ pools: [own, other] })).toThrow('pools.1.enrol.0.key: is the key of an earlier entry, too')
})
