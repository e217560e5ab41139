import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { ManualClock } from '@muster/core/clock'
import { createMemoryStore, type StoreMemory } from '@muster/hosting'
import { RegistrationBody, ReportBody, type ServerReport } from '@muster/hosting/internal'
import { afterEach, describe, expect, test } from 'vitest'
import { createMatchmaker } from './create-matchmaker.js'
import * as enrolling from './enrolled-servers.fixture.js'
import * as listed from './listed-servers.fixture.js'
import type { Matchmaker } from './matches/matchmaker.js'
import { deploy, duel, setUp } from './matchmaker.fixture.js'

const queues = [{ ...duel, deploy: { ...deploy, probe: { kind: 'registration' as const } } }]
const secret = `whsec_${Buffer.from('x'.repeat(32)).toString('base64')}`
const registration = RegistrationBody.parse({ instance: 'one' })

interface Posted {
  readonly id: string
  readonly data: {
    readonly match_id: string
    readonly reason: string
    readonly player_ids: readonly string[]
    readonly left: readonly { readonly player_id: string; readonly at: string }[]
    readonly ranking: unknown
    readonly source: string | null
    readonly enrolment_key: string | null
  }
}

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()))
})

/** Starts a backend that gives the responses of the test. */
async function backend() {
  const posted: Posted[] = []
  const behaves = { status: 204 }
  const heard: (() => void)[] = []
  const take = async (request: IncomingMessage) => {
    posted.push(JSON.parse(await text(request)) as Posted)
    for (const tell of heard.splice(0)) tell()
  }
  const server = createServer((request, response) => {
    void take(request).then(() => response.writeHead(behaves.status).end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => new Promise((resolve) => server.close(resolve)))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/results`
  const count = async (most: number) => {
    while (posted.length < most) await new Promise<void>((resolve) => void heard.push(resolve))
    return posted
  }
  return { url, posted, behaves, count }
}

/** Starts a match of ann and ben that is played on its server, with a backend for its result. */
async function playing(memory?: StoreMemory) {
  const { url, count, behaves } = await backend()
  const results = { url, secret }
  const stored = memory && { store: createMemoryStore(memory) }
  const world = setUp({ queues, results, ...stored })
  const { matchmaker, service, join, run } = world
  join('ann', 'ben')
  await run(6000)
  const token =
    service.calls.create[0]?.environment_variables?.find(({ key }) => key === 'MUSTER_SERVER_TOKEN')?.value ?? ''
  const matchId = matchmaker.inspect().matches[0]?.matchId ?? ''
  let seq = 0
  const report = (players: Readonly<Record<string, string>>, more: object = {}, to = matchmaker) => {
    const matches = [{ id: matchId, status: 'open', players, ...more }]
    return to.reportServer(token, ReportBody.parse({ instance: 'one', seq: (seq += 1), matches }) as ServerReport)
  }
  matchmaker.registerServer(token, registration)
  await report({ ann: 'in', ben: 'in' })
  await run(250)
  return { ...world, token, matchId, report, count, behaves, results }
}

const AFTER_MS = 20_000
const ticks = async (matchmaker: Pick<Matchmaker, 'tick'>, clock: ManualClock, ms: number) => {
  for (let passed = 0; passed < ms; passed += 250) {
    await matchmaker.tick()
    await clock.advance(250)
  }
}

describe('the result of a match that its server did not report', () => {
  test.each([
    ['crashed', { errorMs: AFTER_MS }, {}],
    ['ended', { endMs: AFTER_MS }, {}],
    ['max-duration', {}, { maxDurationMs: AFTER_MS }],
    ['nobody-joined', {}, { joinWithinMs: AFTER_MS }],
  ])(
    'a match that its server did not report gets a result with the reason %s and the players',
    async (reason, fate, settings) => {
      const { url, count } = await backend()
      const { run, join, seen, status, service } = setUp({
        queues: [{ ...duel, deploy: { ...deploy, ...settings } }],
        results: { url, secret },
        service: { fate: () => ({ readyMs: 5000, ...fate }) },
      })
      join('ann', 'ben')
      await run(7000)
      expect(status('ann-ben')).toBe('HOST_ASSIGNED')
      await run(30_000)
      const [result] = await count(1)
      expect(result?.data).toMatchObject({ reason, ranking: null, left: [] })
      expect(result?.data.player_ids.toSorted()).toEqual(['ann', 'ben'])
      expect(seen.matchOver).toMatchObject([{ reason, result: undefined }])
      expect(service.unstopped()).toEqual([])
    },
  )

  test('a match that its server ends before its players were sent there gets no result', async () => {
    const { url, posted } = await backend()
    const service = { fate: () => ({ readyMs: 10_000 }) }
    const { matchmaker, run, join, seen, status, ...world } = setUp({ queues, results: { url, secret }, service })
    join('ann', 'ben')
    await run(2000)
    const variables = world.service.calls.create[0]?.environment_variables
    const token = variables?.find(({ key }) => key === 'MUSTER_SERVER_TOKEN')?.value ?? ''
    matchmaker.registerServer(token, registration)
    const id = matchmaker.inspect().matches[0]?.matchId ?? ''
    const players = { ann: 'left', ben: 'left' }
    const matches = [{ id, status: 'over', players, result: { ranking: [['ann'], ['ben']] } }]
    await matchmaker.reportServer(token, ReportBody.parse({ instance: 'one', seq: 1, matches }) as ServerReport)
    expect(status('ann-ben')).toBe('SEARCHING')
    await run(1000)
    expect(seen.matchOver).toBeUndefined()
    expect(posted).toEqual([])
  })

  test('a match whose pool server has ended gets a result', async () => {
    const { url, count } = await backend()
    const results = { url, secret }
    const fate = () => ({ readyMs: 3000, endMs: AFTER_MS })
    const { run, join, seen, status, matchmaker, clock } = listed.open({
      pools: [listed.world],
      results,
      service: { fate },
    })
    await run(8000)
    join('ann', 'ben')
    await run(3000)
    expect(status('ann-ben')).toBe('HOST_ASSIGNED')
    await ticks(matchmaker, clock, AFTER_MS)
    const [result] = await count(1)
    expect(result?.data).toMatchObject({ reason: 'ended', ranking: null })
    expect(result?.data.player_ids.toSorted()).toEqual(['ann', 'ben'])
    expect(seen.matchOver).toHaveLength(1)
  })

  test('the next process sends the result of a match whose server ended while no process ran', async () => {
    const memory: StoreMemory = new Map()
    const first = await playing(memory)
    const { results, clock, service } = first
    for (const record of service.records) record.stopAskedAt = clock.now()
    const store = createMemoryStore(memory)
    const later = createMatchmaker({ deployments: service.deployments, queues, results, store, clock })
    await ticks(later, clock, AFTER_MS)
    expect((await first.count(1))[0]?.data).toMatchObject({ match_id: first.matchId, reason: 'ended' })
  })

  test('the next process sends the result of a match whose server the previous process stopped on close', async () => {
    const memory: StoreMemory = new Map()
    const { matchmaker, matchId, clock, count, service, results } = await playing(memory)
    expect(await clock.until(matchmaker.close({ stopServers: true }))).toEqual([])
    expect(service.unstopped()).toEqual([])
    const store = createMemoryStore(memory)
    const later = createMatchmaker({ deployments: service.deployments, queues, results, store, clock })
    await ticks(later, clock, AFTER_MS)
    const posted = await count(1)
    expect(posted).toMatchObject([{ id: `msg_${matchId}`, data: { reason: 'closed', ranking: null, left: [] } }])
    expect(posted[0]?.data.player_ids.toSorted()).toEqual(['ann', 'ben'])
  })
})

describe('the results of a matchmaker without a store', () => {
  test('results of matches that end on close are sent before the matchmaker is closed', async () => {
    const { matchmaker, matchId, clock, count, seen } = await playing()
    const closed = matchmaker.close({ stopServers: true })
    await clock.advance(5000)
    expect(await count(1)).toMatchObject([{ id: `msg_${matchId}`, data: { reason: 'closed', ranking: null } }])
    expect(await clock.until(closed)).toEqual([])
    expect(seen.problem).toBeUndefined()
  })

  test('results that the backend does not take by the close are reported as lost, and are not repeated', async () => {
    const { matchmaker, matchId, clock, count, seen, behaves } = await playing()
    behaves.status = 503
    const closed = matchmaker.close({ stopServers: true, timeoutMs: 30_000 })
    await clock.advance(5000)
    const posted = await count(1)
    const began = clock.now()
    await clock.until(closed)
    expect(clock.now() - began).toBeLessThan(1000)
    expect(posted).toHaveLength(1)
    expect(seen.problem?.map(({ error }) => String(error))).toEqual([
      'Error: the URL of results answered 503',
      'Error: 1 result is lost, because there is no store: the backend did not take it in time.',
    ])
    expect(seen.problem?.map((one) => one.matchId)).toEqual([matchId, undefined])
  })
})

describe('a match result', () => {
  test('a match result includes the players who left before the end, with the time', async () => {
    const { report, run, count, clock, seen } = await playing()
    await report({ ann: 'in', ben: 'left' })
    const leftAt = clock.now()
    await run(60_000)
    await report({ ann: 'in', ben: 'left' }, { status: 'over', result: { ranking: [['ann'], ['ben']] } })
    await run(1000)
    const [result] = await count(1)
    expect(result?.data.player_ids.toSorted()).toEqual(['ann', 'ben'])
    expect(result?.data.left).toEqual([{ player_id: 'ben', at: new Date(leftAt).toISOString() }])
    expect(seen.matchOver).toMatchObject([{ left: [{ playerId: 'ben', at: leftAt }] }])
  })

  test('a match result includes the ranking and all players if all leave at the end', async () => {
    const { report, run, count, seen, matchId } = await playing()
    const result = { ranking: [['ann'], ['ben']] }
    await report({ ann: 'left', ben: 'left' }, { status: 'over', result })
    await run(1000)
    const [posted] = await count(1)
    expect(posted).toMatchObject({ id: `msg_${matchId}`, data: { reason: 'over', ranking: [['ann'], ['ben']] } })
    expect(posted?.data.player_ids.toSorted()).toEqual(['ann', 'ben'])
    expect(posted?.data.left.map(({ player_id }) => player_id).toSorted()).toEqual(['ann', 'ben'])
    expect(seen.matchOver).toHaveLength(1)
  })

  test('a match result has no ranking if all players left before the end, and is sent once', async () => {
    const { report, run, count, seen } = await playing()
    await report({ ann: 'in', ben: 'left' })
    await report({ ann: 'left', ben: 'left' })
    await run(1000)
    const [result] = await count(1)
    expect(result?.data.player_ids.toSorted()).toEqual(['ann', 'ben'])
    expect(result?.data.left).toHaveLength(2)
    expect(result?.data).toMatchObject({ reason: 'left', ranking: null })
    expect(seen.matchOver).toHaveLength(1)
  })

  test('a match result shows a player who left and came back as present', async () => {
    const { report, run, join, count, status } = await playing()
    const seats = { open: true }
    await report({ ann: 'in', ben: 'left' }, { seats })
    join('ben')
    await run(1000)
    expect(status('ben')).toBe('HOST_ASSIGNED')
    await report({ ann: 'in', ben: 'in' }, { status: 'over' })
    await run(1000)
    const [result] = await count(1)
    expect(result?.data.player_ids.toSorted()).toEqual(['ann', 'ben'])
    expect(result?.data.left).toEqual([])
  })

  test('a match result includes players who left before a restart', async () => {
    const memory: StoreMemory = new Map()
    const first = await playing(memory)
    await first.report({ ann: 'in', ben: 'left' })
    const { results, clock, service } = first
    const store = createMemoryStore(memory)
    const later = createMatchmaker({ deployments: service.deployments, queues, results, store, clock })
    await later.tick()
    later.registerServer(first.token, registration)
    await first.report({ ann: 'in', ben: 'left' }, { status: 'over' }, later)
    await later.tick()
    const [result] = await first.count(1)
    expect(result?.data.player_ids.toSorted()).toEqual(['ann', 'ben'])
    expect(result?.data.left).toHaveLength(1)
  })
})

describe('the source of a match’s server', () => {
  const enrolled = { source: 'enrolled', enrolment_key: '73dc7b7a' }

  /** Starts a match on a server that has enrolled. */
  const onOwnMachine = async (memory?: StoreMemory) => {
    const { url, count } = await backend()
    const options = { results: { url, secret }, ...(memory && { store: createMemoryStore(memory) }) }
    const world = enrolling.open(options)
    await world.run(500)
    const server = await world.start('fra-1')
    world.join('ann', 'ben')
    await world.run(1000)
    return { ...world, server, count, results: options.results }
  }

  test('a result and its event contain the source of the server: `enrolled`, with the id of the key', async () => {
    const { server, run, count, seen } = await onOwnMachine()
    server.over.add(server.matches[0] ?? '')
    await run(1000)
    expect(await count(1)).toMatchObject([{ data: { reason: 'over', ...enrolled } }])
    expect(seen.matchOver).toMatchObject([{ source: 'enrolled', enrolmentKey: '73dc7b7a' }])
  })

  test('a result contains the source of the server, even of a lost server or a stopped match', async () => {
    const lost = await onOwnMachine()
    lost.server.isSilent = true
    await lost.run(90_000)
    expect(await lost.count(1)).toMatchObject([{ data: { reason: 'lost', ...enrolled } }])
    const stopped = await onOwnMachine()
    void stopped.matchmaker.stopMatch(stopped.server.matches[0] ?? '')
    await stopped.run(1000)
    expect(await stopped.count(1)).toMatchObject([{ data: { reason: 'stopped', ...enrolled } }])
  })

  test('the result of a match contains the source of its server even after a restart', async () => {
    const memory: StoreMemory = new Map()
    const { server, results, count, clock, matchmaker } = await onOwnMachine(memory)
    await matchmaker.close({ handOver: true })
    const after = enrolling.open({ store: createMemoryStore(memory), clock, results })
    await after.matchmaker.ready()
    after.processes.push(server)
    for (const isOver of [false, false, true]) {
      if (isOver) server.over.add(server.matches[0] ?? '')
      await after.report(server)
      await ticks(after.matchmaker, clock, 1000)
    }
    expect(await count(1)).toMatchObject([{ data: { reason: 'over', ...enrolled } }])
  })

  test('the source in a result is null for a server of the deployment service', async () => {
    const { report, run, count } = await playing()
    await report({}, { status: 'over' })
    await run(1000)
    expect(await count(1)).toMatchObject([{ data: { source: null, enrolment_key: null } }])
  })
})
