import { createManualClock } from '@muster/core/clock'
import type { Beacon } from '@muster/core/api'
import { describe, expect, test } from 'vitest'
import type { BeaconSource } from '../beacons.js'
import { createBeacons } from './latencies.js'
import type { QueueDefinition } from '../queues/queue.js'
import { setUp, setUpReal } from './ticket-api.fixture.js'

const oslo: Beacon = {
  host: '198.51.100.1',
  fqdn: 'oslo.example.com',
  udp_port: 30001,
  location: { city: 'Oslo', country: 'Norway', latitude: '59.91', longitude: 10.75 },
}
const sydney: Beacon = {
  host: '198.51.100.2',
  tcp_port: 30002,
  location: { city: 'Sydney', latitude: -33.87, longitude: 151.21 },
}
const unnamed: Beacon = { host: '198.51.100.3', location: {} }
const list = [oslo, sydney, unnamed]

function counting(source: () => Promise<Iterable<Beacon>> = async () => list) {
  let fetches = 0
  const counted: BeaconSource = () => {
    fetches += 1
    return source()
  }
  return { source: counted, fetches: () => fetches }
}

describe('GET /locations/beacons', () => {
  test('GET /locations/beacons fetches the beacons once for all callers, and caches them for 10 min', async () => {
    const { source, fetches } = counting()
    const { call, clock } = setUp({ beacons: source })
    expect(fetches()).toBe(0)
    const [first] = await Promise.all([
      call('ann', 'GET', '/locations/beacons'),
      call('bob', 'GET', '/locations/beacons'),
    ])
    expect(first.json).toMatchObject({
      count: 3,
      beacons: [
        {
          fqdn: 'oslo.example.com',
          public_ip: '198.51.100.1',
          udp_port: 30001,
          tcp_port: null,
          location: { city: 'Oslo', latitude: 59.91, longitude: 10.75 },
        },
        { fqdn: null, public_ip: '198.51.100.2', udp_port: null, tcp_port: 30002 },
        { location: { city: null, latitude: null } },
      ],
    })
    await clock.advance(599_999)
    await call('ann', 'GET', '/locations/beacons')
    expect(fetches()).toBe(1)
    await clock.advance(1)
    await call('ann', 'GET', '/locations/beacons')
    expect(fetches()).toBe(2)
  })

  test('GET /locations/beacons reads a paged source, and takes at most 1,000 beacons from it', async () => {
    const endless = async function* () {
      for (let count = 0; ; count += 1) yield { ...oslo, host: String(count) }
    }
    const beacons = createBeacons(endless, createManualClock(), () => {})
    expect((await beacons.view()).count).toBe(1000)
  })

  test('GET /locations/beacons serves the last known beacons while their source fails, then retries', async () => {
    let works = false
    const { source, fetches } = counting(() => (works ? Promise.resolve(list) : Promise.reject(new Error('down'))))
    const { call, clock, errors } = setUp({ beacons: source })
    const answer = await call('ann', 'GET', '/locations/beacons')
    expect(answer).toMatchObject({ status: 503, json: { code: 'beacons-unavailable' } })
    await call('ann', 'GET', '/locations/beacons')
    expect([fetches(), errors.length]).toEqual([1, 1])
    works = true
    await clock.advance(10_000)
    expect((await call('ann', 'GET', '/locations/beacons')).status).toBe(200)
    works = false
    await clock.advance(600_000)
    expect((await call('ann', 'GET', '/locations/beacons')).status).toBe(200)
    expect(fetches()).toBe(3)
  })

  test('GET /locations/beacons answers 404 when no source of beacons is configured', async () => {
    expect(await setUp().call('ann', 'GET', '/locations/beacons')).toMatchObject({
      status: 404,
      json: { code: 'no-beacons' },
    })
  })
})

describe('the latencies of a ticket', () => {
  const locate = (ip: string) => (ip === '203.0.113.7' ? { latitude: 59.91, longitude: 10.75 } : undefined)
  const latenciesOf = async (options: Parameters<typeof setUp>[0], reported: object, from = '203.0.113.7') => {
    const world = setUp(options)
    const { json } = await world.call(
      'ann',
      'POST',
      '/tickets',
      {
        profile: 'duel',
        attributes: { beacons: reported, skill: 1 },
      },
      { from },
    )
    const { id } = json as { id: string }
    const [player] = world.service.players.get(id) ?? []
    expect(player?.attributes).toEqual({ skill: 1 })
    return { latencies: player?.latencies, counts: world.api.counts() }
  }
  const beacons = async () => list

  test('a ticket has the measured latencies where plausible, and estimates from the distance elsewhere', async () => {
    const { latencies, counts } = await latenciesOf({ beacons, locate }, { Oslo: 9, Sydney: 3, Atlantis: 1 })
    expect(latencies).toEqual({ Oslo: 9, Sydney: 329 })
    expect(counts).toMatchObject({ latenciesImpossible: 1, latenciesUnknown: 1, latenciesEstimated: 1 })
  })

  test('plausible latencies override the place of the address, unless a measurement contradicts them', async () => {
    const { latencies, counts } = await latenciesOf({ beacons, locate }, { Oslo: 0, Sydney: 3, Atlantis: 1 })
    expect(latencies).toEqual({ Sydney: 3, Oslo: 322 })
    expect(counts).toMatchObject({ latenciesImpossible: 0, latenciesUnknown: 1, latenciesEstimated: 1 })
  })

  test.each([
    ['an address without a known place', { beacons, locate }, '192.0.2.1'],
    ['a place lookup that rejects', { beacons, locate: () => Promise.reject(new Error('down')) }, '203.0.113.7'],
    [
      'a place lookup that throws',
      {
        beacons,
        locate: () => {
          throw new Error('down')
        },
      },
      '203.0.113.7',
    ],
    ['no place lookup', { beacons }, '203.0.113.7'],
  ])('a ticket keeps its measured latencies, without estimates, given %s', async (_, options, from) => {
    expect((await latenciesOf(options, { Oslo: 0, Sydney: 3 }, from)).latencies).toEqual({ Sydney: 3 })
  })

  const mine = { kind: 'custom', name: 'mine', test: () => true } as const
  test.each<[string, QueueDefinition['rules'], object, object]>([
    ['no rule reads latencies', [], {}, {}],
    ['no rule reads latencies, and one was measured', [], { Oslo: 31 }, { Oslo: 31 }],
    ['a latency rule reads them', [{ kind: 'latency', maxMs: 1000 }], {}, { Oslo: 10, Sydney: 329 }],
    ['a custom rule may read them', [mine], {}, { Oslo: 10, Sydney: 329 }],
  ])('missing latencies are estimated only for queues that read them: %s', async (_, rules, reported, expected) => {
    const queue = { name: 'duel', matchSize: 2, deploy: { application: 'game', version: '1' }, rules }
    const { call, service } = setUpReal([queue], { beacons, locate })
    const body = { profile: 'duel', player_ip: '203.0.113.7', attributes: { beacons: reported } }
    expect((await call('backend', 'POST', '/tickets', body)).status).toBe(201)
    const [ticket] = service.exportTickets().tickets
    expect(ticket?.players[0]?.latencies ?? {}).toEqual(expected)
  })

  test('a ticket is created without delay while the beacons cannot be fetched', async () => {
    const { call, clock, service } = setUp({ beacons: () => new Promise(() => {}), locate })
    const created = call('ann', 'POST', '/tickets', { profile: 'duel', attributes: { beacons: { Oslo: 5 } } })
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    expect(service.players.size).toBe(0)
    await clock.advance(1000)
    expect((await created).status).toBe(201)
    expect(service.players.get('ticket-1')).toMatchObject([{ latencies: { Oslo: 5 } }])
  })

  test('missing latencies are estimated from the coordinates that a backend sends', async () => {
    const { call, service } = setUp({ beacons })
    await call('backend', 'POST', '/tickets', {
      profile: 'duel',
      player_id: 'ann',
      coordinates: { latitude: -33.87, longitude: 151.21 },
    })
    expect(service.players.get('ticket-1')).toMatchObject([{ latencies: { Sydney: 10, Oslo: 329 } }])
  })
})
