import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { deploy } from '../matchmaker.fixture.js'
import type { QueueDefinition } from '../queues/queue.js'
import { explanationView, ownExplanationView } from './overviews.js'
import { setUpReal } from './ticket-api.fixture.js'

/** A queue whose rules use all data of a ticket, with limits that widen while it waits. */
const ranked: QueueDefinition = {
  name: 'ranked',
  teams: [{ name: 'red', count: 2, size: { min: 1, max: 2 } }],
  rules: [
    { kind: 'distance', maxKm: { from: 50, to: 20_000, overMs: 60_000 } },
    { kind: 'difference', attribute: 'skill', max: { from: 1, to: 5000, overMs: 60_000 } },
    { kind: 'latency', maxMs: { from: 5, to: 500, overMs: 60_000 }, missing: 'any' },
    { kind: 'overlap', attribute: 'maps', missing: 'any' },
    { kind: 'balance', attribute: 'skill', max: 10 },
    { kind: 'roles', roles: { tank: 1 } },
    { kind: 'avoid' },
  ],
  expireAfterMs: 600_000,
  deploy,
}

const attackers = [
  { player_id: 'ann', latitude: 52, longitude: 13 },
  { player_id: 'ben', latitude: 40, longitude: -74 },
  { player_id: 'cyd', latitude: -33, longitude: 151 },
]

interface Victim {
  readonly latitude: number
  readonly longitude: number
  readonly skill: number
  readonly ping: number
  readonly maps: readonly string[]
  readonly roles: readonly string[]
  readonly avoid: readonly string[]
}

/** Returns all explanations that the attackers receive, one every seven seconds, with one other player in the queue. */
async function answersWith({ latitude, longitude, skill, ping, maps, roles, avoid }: Victim): Promise<string[]> {
  const { call, clock } = setUpReal([ranked], { limits: { perCaller: null, perAddress: null } })
  const create = (player_id: string, coordinates: object, attributes: object, more: object = {}) =>
    call('backend', 'POST', '/tickets', { profile: 'ranked', player_id, coordinates, attributes, ...more })
  const ids: string[] = []
  for (const { player_id, ...place } of attackers) {
    const { json } = await create(player_id, place, { skill: 1000, beacons: { Oslo: 20 }, maps: ['ice'] })
    ids.push((json as { id: string }).id)
  }
  await create('victim', { latitude, longitude }, { skill, beacons: { Oslo: ping }, maps }, { roles, avoid })
  const told: string[] = []
  for (let second = 0; second < 70; second += 7) {
    for (const [index, id] of ids.entries()) {
      const { status, json } = await call(attackers[index]?.player_id, 'GET', `/tickets/${id}/explain`)
      told.push(`${status} ${JSON.stringify(json)}`)
    }
    await clock.advance(7000)
  }
  return told
}

const someone: fc.Arbitrary<Victim> = fc.record({
  latitude: fc.double({ min: -80, max: 80, noNaN: true }),
  longitude: fc.double({ min: -180, max: 180, noNaN: true }),
  skill: fc.integer({ min: 0, max: 5000 }),
  ping: fc.integer({ min: 1, max: 400 }),
  maps: fc.subarray(['ice', 'fog', 'sand'], { minLength: 1 }),
  roles: fc.subarray(['tank', 'healer']),
  avoid: fc.subarray(['ann', 'ben', 'cyd']),
})

describe('the explanation that a player reads', () => {
  test('the explanation that a player reads does not depend on the places or values of other players', async () => {
    const reference = await answersWith({
      latitude: 52,
      longitude: 13,
      skill: 1000,
      ping: 20,
      maps: ['ice'],
      roles: ['tank'],
      avoid: [],
    })
    await fc.assert(
      fc.asyncProperty(someone, async (victim) => {
        expect(await answersWith(victim)).toEqual(reference)
      }),
      { numRuns: 8 },
    )
  })

  test('the explanation that a player reads gives the number of waiting tickets in coarse steps', async () => {
    const { call, service } = setUpReal([{ ...ranked, rules: [] }], { limits: { perCaller: null, perAddress: null } })
    const seen = new Map<number, number>()
    for (let player = 0; player < 60; player += 1) {
      service.createTicket({
        id: `p${player}`,
        queue: 'ranked',
        players: [{ id: `p${player}`, coordinates: { latitude: 0, longitude: 0 } }],
      })
      const { json } = await call('p0', 'GET', '/tickets/p0/explain')
      const [queue] = (json as { queues: { others: number; summary: string }[] }).queues
      if (!seen.has(queue?.others ?? -1)) seen.set(queue?.others ?? -1, player)
      if (player === 3) expect(queue?.summary).toBe('Fewer than 5 others wait. In 5 s 2 players are enough.')
      if (player === 30) expect(queue?.summary).toMatch(/^At least 25 others wait\./)
    }
    expect([...seen]).toEqual([
      [0, 0],
      [5, 5],
      [10, 10],
      [25, 25],
      [50, 50],
    ])
  })
})

test('explain gives a backend the exact values, rounded to be readable', async () => {
  const { call, clock } = setUpReal([ranked])
  for (const [player_id, latitude, skill] of [
    ['ann', 52, 1000.1],
    ['ben', 52.01, 1000.3],
  ] as const) {
    const body = {
      profile: 'ranked',
      player_id,
      coordinates: { latitude, longitude: 13 },
      attributes: { skill },
      roles: ['tank'],
    }
    await call('backend', 'POST', '/tickets', { ...body, id: player_id })
  }
  await clock.advance(0.4)
  const { json } = await call('backend', 'GET', '/tickets/ann/explain')
  expect(json).toMatchObject({ waited_ms: 0, queues: [{ waiting: 1, others: 1, compatible: 1 }] })
  expect(JSON.stringify(json)).not.toMatch(/\d\.\d{6}/)
  const { json: own } = await call('ann', 'GET', '/tickets/ann/explain')
  const [queue] = (own as { queues: object[] }).queues
  expect(Object.keys(queue ?? {}).toSorted()).toEqual(['next', 'others', 'queue', 'summary', 'waited_ms', 'waiting'])
})

test('explain gives a player the chosen beacon and the limit, not the measurements of other players', () => {
  const placement = {
    beacon: 'Oslo',
    coordinates: { latitude: 59.9, longitude: 10.7 },
    worstMs: 47,
    meanMs: 41,
    limitMs: 80,
  }
  const summary = 'Its match has a server. Its server is placed at the beacon Oslo, at most 80 ms from every player.'
  const explanation = { ticketId: 't', summary, waitedMs: 0, waitingFor: undefined, placement, queues: [] }
  expect(JSON.parse(JSON.stringify(ownExplanationView(explanation)))).toEqual({
    ticket_id: 't',
    summary,
    waited_ms: 0,
    queues: [],
  })
  expect(explanationView(explanation)).toMatchObject({
    placement: { beacon: 'Oslo', worst_ms: 47, mean_ms: 41, limit_ms: 80 },
  })
})
