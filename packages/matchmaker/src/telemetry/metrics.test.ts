import { readFileSync } from 'node:fs'
import type { Attributes } from '@opentelemetry/api'
import type { Client } from '@muster/core'
import { EventEmitter } from 'eventemitter3'
import { describe, expect, test } from 'vitest'
import { EMPTY_INSPECTION, type QueueState } from '../matches/inspection.js'
import { ACTIVITIES, type AllocationView } from '@muster/hosting/internal'
import { catalogue } from './instruments.js'
import { assignment, setUp, START, ticket } from './telemetry.fixture.js'

const match = { matchId: 'm1', queue: 'duel' }

/** Returns the counters of problems, stopped orphans and lost servers, which start at 0. */
const noProblems = (common: Attributes = {}) => ({
  ...Object.fromEntries(
    ACTIVITIES.map((during) => [`muster.problems${JSON.stringify({ ...common, 'muster.activity': during })}`, 0]),
  ),
  [`muster.deployments.reaped${JSON.stringify(common)}`]: 0,
  [`muster.servers.lost${JSON.stringify(common)}`]: 0,
})

/** Returns the counters of failures in a queue, which are reported from the first collection on. */
const nothingFailed = (ofQueue: Attributes) => {
  const each = (name: string, attribute: string, values: readonly string[]) =>
    values.map((value) => [`${name}${JSON.stringify({ ...ofQueue, [attribute]: value })}`, 0])
  return Object.fromEntries([
    ...each('muster.tickets.ended', 'muster.outcome', ['assigned', 'expired', 'cancelled', 'attempts', 'absent']),
    ...each('muster.deployments.failed', 'muster.reason', ['failed', 'too-slow', 'not-listening', 'crashed']),
    [`muster.matches.found${JSON.stringify(ofQueue)}`, 0],
    [`muster.deployments.created${JSON.stringify(ofQueue)}`, 0],
  ]) as Readonly<Record<string, number>>
}

const waiting: QueueState = {
  name: 'duel',
  paused: false,
  searching: { location: 0, players: 574, retry: 0, servers: 0, 'other-ticket': 0 },
  players: 574,
  matchPlayers: 2,
  longestWaitMs: 9000,
  matchesFound: 0,
  searchesGivenUp: 0,
  backfills: 0,
  backfillSlots: 0,
}

describe('metrics of tickets', () => {
  test('metrics count and time tickets that are created, matched, requeued and ended', async () => {
    const { emit, measured } = setUp()
    emit('ticketCreated', { ticket: ticket('a') })
    emit('ticketCreated', { ticket: ticket('b', { queues: ['duel', 'ranked'] }) })
    const matched = { queue: 'duel', matchedAt: START + 2000 }
    const both = [ticket('a', matched), ticket('b', { ...matched, createdAt: START + 500 })]
    emit('matchFound', { ...match, tickets: both, expansionMs: 1500 })
    emit('ticketRequeued', { ...match, ticket: ticket('b'), reason: 'no-capacity' })
    const assigned = [ticket('a', { queue: 'duel', assignedAt: START + 9000 })]
    emit('serverAssigned', { ...match, requestId: 'r1', assignment, tickets: assigned })
    emit('cancelled', {
      ticket: ticket('b', { queues: ['duel', 'ranked'], cancelledAt: START + 10_000 }),
      reason: 'attempts',
    })
    emit('expired', { ticket: ticket('c', { cancelledAt: START + 60_000 }) })
    expect(await measured()).toMatchObject({
      'muster.tickets.created{"muster.queue":"duel"}': 1,
      'muster.tickets.created{"muster.queue":"several"}': 1,
      'muster.matches.found{"muster.queue":"duel"}': 1,
      'muster.ticket.match_time{"muster.queue":"duel"}': { count: 2, sum: 3.5 },
      'muster.match.relaxation{"muster.queue":"duel"}': { count: 1, sum: 1.5 },
      'muster.match.players{"muster.queue":"duel"}': { count: 1, sum: 2 },
      'muster.match.wait_spread{"muster.queue":"duel"}': { count: 1, sum: 0.5 },
      'muster.tickets.requeued{"muster.queue":"duel","muster.reason":"no-capacity"}': 1,
      'muster.tickets.ended{"muster.queue":"duel","muster.outcome":"assigned"}': 1,
      'muster.tickets.ended{"muster.queue":"several","muster.outcome":"attempts"}': 1,
      'muster.tickets.ended{"muster.queue":"duel","muster.outcome":"expired"}': 1,
      'muster.ticket.wait_time{"muster.queue":"duel","muster.outcome":"assigned"}': { count: 1, sum: 9 },
      'muster.ticket.wait_time{"muster.queue":"several","muster.outcome":"attempts"}': { count: 1, sum: 10 },
      'muster.ticket.wait_time{"muster.queue":"duel","muster.outcome":"expired"}': { count: 1, sum: 60 },
    })
  })

  test('metrics count private matches, but not the waits of their tickets', async () => {
    const { emit, measured } = setUp()
    const tickets = [ticket('a', { queue: 'duel', matchedAt: START, privateMatch: 'm' })]
    emit('matchFound', { ...match, tickets, expansionMs: 0 })
    const figures = await measured()
    expect(figures).toMatchObject({ 'muster.matches.found{"muster.queue":"duel"}': 1 })
    expect(figures).not.toHaveProperty(['muster.ticket.match_time{"muster.queue":"duel"}'])
  })

  test('metrics count tickets that join a match later, acceptances, leaving players and backfills', async () => {
    const { emit, measured } = setUp()
    const backfill = { id: 'f1', version: 1, matchId: 'm1', queue: 'duel', createdAt: START, teams: [], tickets: [] }
    emit('matchAccepted', { ...match, ticket: ticket('a'), playerIds: ['ann', 'ben'] })
    emit('playersLeft', { ...match, playerIds: ['ann'], remaining: 1 })
    const cooldown = { playerId: 'ann', name: 'duel', offences: 1, until: START, forgiveAfterMs: 1 }
    emit('cooldownBegan', { queue: 'duel', offence: 'declined', cooldown })
    emit('backfillCreated', { backfill: { ...backfill, status: 'OPEN' } })
    emit('backfillChanged', { backfill: { ...backfill, status: 'OPEN' } })
    emit('backfillJoined', {
      ...match,
      backfillId: 'f1',
      tickets: [ticket('c', { queue: 'duel', matchedAt: START + 500 })],
    })
    emit('backfillChanged', { backfill: { ...backfill, status: 'FILLED' } })
    expect(await measured()).toMatchObject({
      'muster.players.accepted{"muster.queue":"duel"}': 2,
      'muster.players.left{"muster.queue":"duel"}': 1,
      'muster.cooldowns.begun{"muster.queue":"duel","muster.reason":"declined"}': 1,
      'muster.backfills.created{"muster.queue":"duel"}': 1,
      'muster.tickets.joined{"muster.queue":"duel"}': 1,
      'muster.ticket.match_time{"muster.queue":"duel"}': { count: 1, sum: 0.5 },
      'muster.backfills.ended{"muster.queue":"duel","muster.outcome":"filled"}': 1,
    })
  })
})

test('metrics count and time deployments, ticks and problems', async () => {
  const place = { beacon: 'Oslo', coordinates: { latitude: 59.9, longitude: 10.7 } }
  const placed = { ...place, worstMs: 45, meanMs: 30, limitMs: 60, offKm: 12 }
  const { emit, measured } = setUp()
  emit('deploymentCreated', { ...match, requestId: 'r1' })
  emit('deploymentReady', { ...match, requestId: 'r1', startMs: 12_000, unseenMs: 400, placed })
  emit('deploymentStopped', { ...match, requestId: 'r1', reason: 'ended' })
  emit('deploymentFailed', { ...match, requestId: 'r2', reason: 'crashed', detail: 'exit code 1' })
  emit('orphanStopped', { requestId: 'r7' })
  emit('tickCompleted', { durationMs: 3, matches: 1 })
  emit('problem', { during: 'create', error: new Error('no') })
  expect(await measured()).toMatchObject({
    'muster.deployments.created{"muster.queue":"duel"}': 1,
    'muster.deployment.start_time{"muster.queue":"duel"}': { count: 1, sum: 12 },
    'muster.deployment.ready_detection_delay{"muster.queue":"duel"}': { count: 1, sum: 0.4 },
    'muster.placement.latency{"muster.queue":"duel"}': { count: 1, sum: 0.045 },
    'muster.placement.distance{"muster.queue":"duel"}': { count: 1, sum: 12 },
    'muster.deployments.stopped{"muster.queue":"duel","muster.reason":"ended"}': 1,
    'muster.deployments.failed{"muster.queue":"duel","muster.reason":"crashed"}': 1,
    'muster.deployments.reaped{}': 1,
    'muster.tick.duration{}': { count: 1, sum: 0.003 },
    'muster.problems{"muster.activity":"create"}': 1,
  })
})

test('gauges of the matchmaker are read when metrics are collected', async () => {
  const { state, measured } = setUp({ attributes: { region: 'eu' } })
  const phases = ['starting', 'running', 'running'] as const
  const matches = phases.map((phase) => ({ ...match, phase }) as unknown as AllocationView)
  const searching = { location: 0, players: 3, retry: 0, servers: 1, 'other-ticket': 0 }
  state.inspection = {
    ...EMPTY_INSPECTION,
    queues: [
      {
        name: 'duel',
        searching,
        players: 5,
        matchPlayers: 2,
        longestWaitMs: 7500,
        paused: true,
        matchesFound: 3,
        searchesGivenUp: 7,
        backfills: 1,
        backfillSlots: 4,
      },
    ],
    matches,
    stopsPending: 2,
    blockedBy: 'maxStarting',
  }
  expect(await measured()).toEqual({
    ...noProblems({ region: 'eu' }),
    ...nothingFailed({ region: 'eu', 'muster.queue': 'duel' }),
    ...Object.fromEntries(
      Object.entries(searching).map(([lacks, tickets]) => [
        `muster.tickets.waiting{"region":"eu","muster.queue":"duel","muster.waiting_for":"${lacks}"}`,
        tickets,
      ]),
    ),
    'muster.players.waiting{"region":"eu","muster.queue":"duel"}': 5,
    'muster.tickets.longest_wait{"region":"eu","muster.queue":"duel"}': 7.5,
    'muster.queue.match_players{"region":"eu","muster.queue":"duel"}': 2,
    'muster.results.oldest{"region":"eu"}': 0,
    'muster.stops.oldest{"region":"eu"}': 0,
    'muster.deployments{"region":"eu","muster.queue":"duel","muster.phase":"starting"}': 1,
    'muster.deployments{"region":"eu","muster.queue":"duel","muster.phase":"running"}': 2,
    'muster.results.pending{"region":"eu"}': 0,
    'muster.results.aside{"region":"eu"}': 0,
    'muster.stops.pending{"region":"eu"}': 2,
    'muster.matches.forming{"region":"eu","muster.queue":"duel"}': 3,
    'muster.queue.paused{"region":"eu","muster.queue":"duel"}': 1,
    'muster.searches.budget_exhausted{"region":"eu","muster.queue":"duel"}': 7,
    'muster.backfills.open{"region":"eu","muster.queue":"duel"}': 1,
    'muster.backfills.slots{"region":"eu","muster.queue":"duel"}': 4,
    'muster.deployments.blocked{"region":"eu","muster.reason":"maxServers"}': 0,
    'muster.deployments.blocked{"region":"eu","muster.reason":"maxStarting"}': 1,
    'muster.deployments.blocked{"region":"eu","muster.reason":"maxCreatesPerMinute"}': 0,
    'muster.deployments.blocked{"region":"eu","muster.reason":"budget"}': 0,
    'muster.deployments.blocked{"region":"eu","muster.reason":"paused"}': 0,
    'muster.deployments.blocked{"region":"eu","muster.reason":"unstoppable"}': 0,
    'muster.deployments.blocked{"region":"eu","muster.reason":"store"}': 0,
  })
})

describe('metrics of a client', () => {
  const clientOf = () => {
    const events: Client['events'] = new EventEmitter()
    const state = { queued: 4, inFlight: 1, tokens: 0, rate: 40, pausedUntil: undefined, countedWithinMs: undefined }
    return { events, queues: () => ({ createDeployment: state }) }
  }
  const call = { operation: 'deployments.create', call: 'c-1', attempt: 1 } as const
  const request = { ...call, method: 'POST', path: '/v2/deployments', priority: 0, queuedMs: 250 } as const

  test('metrics of a client count and time requests, and report the busiest second of each rate limit', async () => {
    const client = clientOf()
    const { clock, measured } = setUp({ client })
    for (let second = 0; second < 2; second += 1) {
      for (let count = 0; count < 10 * (second + 1); count += 1) client.events.emit('request', request)
      await clock.advance(1000)
    }
    client.events.emit('response', { ...request, status: 202, error: undefined, durationMs: 20, bytes: 10 })
    client.events.emit('response', { ...request, status: undefined, error: 'ConnectionLost', durationMs: 10, bytes: 0 })
    client.events.emit('retry', { ...call, delayMs: 10, error: 'RateLimited' })
    client.events.emit('throttled', { ...call, limit: 'createDeployment', retryAfterMs: 1000, pauseMs: 1000 })
    expect(await measured()).toMatchObject({
      'muster.api.queue_time{"muster.operation":"deployments.create"}': { count: 30, sum: 7.5 },
      'muster.api.requests{"muster.operation":"deployments.create","muster.outcome":"202"}': 1,
      'muster.api.requests{"muster.operation":"deployments.create","muster.outcome":"ConnectionLost"}': 1,
      'muster.api.duration{"muster.operation":"deployments.create","muster.outcome":"202"}': { count: 1, sum: 0.02 },
      'muster.api.retries{"muster.operation":"deployments.create","muster.outcome":"RateLimited"}': 1,
      'muster.api.throttled{"muster.limit":"createDeployment"}': 1,
      'muster.api.queued{"muster.limit":"createDeployment"}': 4,
      'muster.api.limit_use{"muster.limit":"createDeployment"}': 0.5,
    })
    expect(await measured()).toMatchObject({ 'muster.api.limit_use{"muster.limit":"createDeployment"}': 0 })
  })

  test('metrics of a client report nothing after the instrumentation has ended', async () => {
    const client = clientOf()
    const { end, measured, emit } = setUp({ client })
    end()
    client.events.emit('request', request)
    emit('ticketCreated', { ticket: ticket('a') })
    const limits = ['createDeployment', 'legacyDeploy', 'listDeployments', 'status']
    const throttled = limits.map((limit) => [`muster.api.throttled{"muster.limit":"${limit}"}`, 0] as const)
    expect(await measured()).toEqual({ ...noProblems(), ...Object.fromEntries(throttled) })
  })
})

test('counters that alerts watch are 0 before the first event, so that it appears as an increase', async () => {
  const { state, measured, emit } = setUp()
  const arena = { pool: 'arena', place: 'Oslo', starting: 0, idle: 0, playing: 0, draining: 0, wanted: 0, asked: 0 }
  const pools = [{ ...arena, hits: 0, idleHours: 0 }] as unknown as typeof state.inspection.pools
  state.inspection = { ...EMPTY_INSPECTION, queues: [{ ...waiting, name: 'ranked' }], pools }
  expect(await measured()).toMatchObject({
    ...nothingFailed({ 'muster.queue': 'ranked' }),
    'muster.servers.lost{"muster.pool":"arena"}': 0,
  })
  for (const id of ['a', 'b']) emit('expired', { ticket: ticket(id, { queues: ['ranked'] }) })
  expect(await measured()).toMatchObject({
    'muster.tickets.ended{"muster.queue":"ranked","muster.outcome":"expired"}': 2,
  })
})

test('a gauge reads 0 once its subject is gone, for example after losing the lead', async () => {
  const { state, measured } = setUp()
  const queue = { ...waiting, name: 'duel', searchesGivenUp: 7 }
  state.inspection = {
    ...EMPTY_INSPECTION,
    queues: [queue],
    matches: [{ queue: 'duel', phase: 'starting' } as AllocationView],
  }
  const before = await measured()
  state.inspection = { ...EMPTY_INSPECTION, matches: [{ queue: 'duel', phase: 'running' } as AllocationView] }
  const after = await measured()
  const read = (name: string, attributes: object) => {
    const key = `${name}${JSON.stringify(attributes)}`
    return [before[key], after[key]]
  }
  const ofQueue = { 'muster.queue': 'duel' }
  expect(read('muster.players.waiting', ofQueue)).toEqual([574, 0])
  expect(read('muster.tickets.longest_wait', ofQueue)).toEqual([9, 0])
  expect(read('muster.deployments', { ...ofQueue, 'muster.phase': 'starting' })).toEqual([1, 0])
  expect(read('muster.deployments', { ...ofQueue, 'muster.phase': 'running' })).toEqual([undefined, 1])
  expect(read('muster.searches.budget_exhausted', ofQueue)).toEqual([7, 7])
})

test('metrics count game servers and seats by state, and pools by place: warm, hit rate and idle', async () => {
  const { emit, state, measured } = setUp({ attributes: { region: 'eu' } })
  const server = {
    id: 's1',
    state: 'IDLE',
    pool: 'arena',
    place: 'Oslo',
    requestId: 'r1',
    source: undefined,
    enrolmentKey: undefined,
    build: '7',
    matches: [],
    matchesAtOnce: 1,
    matchesServed: 3,
    playersIn: 0,
    seats: undefined,
    listing: undefined,
    registeredAt: START,
    seenAt: START,
    draining: undefined,
  } as const
  const listed = { ...server, state: 'PLAYING' } as const
  const pool = {
    pool: 'arena',
    place: 'Oslo',
    paused: false,
    wanted: 3,
    starting: 1,
    idle: 2,
    playing: 5,
    draining: 1,
    asked: 100,
    hits: 95,
    expectedHit: 0.96,
    ratePerHour: 60,
    cameLastHour: 58,
    bootSeconds: 20,
    idleHours: 1.5,
  }
  const match = {
    matchId: 'm1',
    queue: 'duel',
    tag: 't',
    ticketIds: [],
    playerIds: [],
    at: START,
    placement: undefined,
  }
  const hosted = {
    ...match,
    phase: 'running',
    requestId: 'r1',
    assignment,
    hosted: { serverId: 's1', warm: true },
  } as const
  state.inspection = {
    ...EMPTY_INSPECTION,
    matches: [hosted],
    servers: [
      server,
      { ...server, id: 's2' },
      { ...server, id: 's3', pool: undefined, state: 'PLAYING' },
      { ...listed, id: 's4', listing: { name: 'one', seats: { total: 8, free: 3, held: 1, taken: 4, away: 0 } } },
      { ...listed, id: 's5', listing: { name: 'two', seats: { total: 4, free: 0, held: 0, taken: 3, away: 1 } } },
    ],
    pools: [pool],
    resultsPending: 4,
    resultsAside: 0,
  }
  const event = { serverId: 's1', requestId: 'r1', silentMs: 25_000 }
  emit('serverLost', { ...event, pool: 'arena' })
  emit('serverLost', { ...event, pool: undefined })
  const found = await measured()
  const at = '{"region":"eu","muster.pool":"arena","muster.place":"Oslo"}'
  const doing = (what: string) => at.replace('}', `,"muster.state":"${what}"}`)
  expect(found).toMatchObject({
    'muster.servers{"region":"eu","muster.pool":"arena","muster.state":"idle"}': 2,
    'muster.servers{"region":"eu","muster.pool":"arena","muster.state":"playing"}': 2,
    'muster.servers{"region":"eu","muster.state":"playing"}': 1,
    'muster.seats{"region":"eu","muster.pool":"arena","muster.state":"free"}': 3,
    'muster.seats{"region":"eu","muster.pool":"arena","muster.state":"held"}': 1,
    'muster.seats{"region":"eu","muster.pool":"arena","muster.state":"taken"}': 7,
    'muster.seats{"region":"eu","muster.pool":"arena","muster.state":"away"}': 1,
    'muster.servers.lost{"region":"eu","muster.pool":"arena"}': 1,
    'muster.servers.lost{"region":"eu"}': 1,
    [`muster.pool.servers${doing('starting')}`]: 1,
    [`muster.pool.servers${doing('idle')}`]: 2,
    [`muster.pool.servers${doing('playing')}`]: 5,
    [`muster.pool.servers${doing('draining')}`]: 1,
    [`muster.pool.servers_wanted${at}`]: 3,
    [`muster.pool.matches${at}`]: 100,
    [`muster.pool.hits${at}`]: 95,
    [`muster.pool.idle_time${at}`]: 5400,
    'muster.results.pending{"region":"eu"}': 4,
  })
  // A match on a server of a pool does not count as a deployment.
  expect(Object.keys(found).filter((name) => name.startsWith('muster.deployments{'))).toEqual([])
  // States of removed objects become 0, and totals keep their value.
  state.inspection = EMPTY_INSPECTION
  expect(await measured()).toMatchObject({
    [`muster.pool.servers${doing('idle')}`]: 0,
    [`muster.pool.servers_wanted${at}`]: 0,
    [`muster.pool.hits${at}`]: 95,
  })
})

test('docs/telemetry.md lists exactly the metrics with their units', () => {
  const page = readFileSync(new URL('../../../../docs/telemetry.md', import.meta.url), 'utf8')
  // The process metrics have their own table.
  const [text = ''] = page.split('The `muster` server also exports')
  const documented = Array.from(text.matchAll(/^\| `(muster\.[\w.]+)` \|[^|]*\| (\S+) \|/gm), ([, name, unit]) => [
    name,
    unit,
  ])
  const units = Object.entries(catalogue).map(([name, { unit }]) => [name, unit])
  expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(units))
})
