/** Tests the placement of servers by a latency rule, through the whole matchmaker. */
import { NoCapacity } from '@muster/core'
import type { Beacon } from '@muster/core/api'
import { describe, expect, test } from 'vitest'
import { duel, setUp } from '../matchmaker.fixture.js'

const beacon = (city: string, latitude: number | null, longitude: number | null): Beacon => ({
  host: `192.0.2.${city.length}`,
  location: { city, latitude: latitude === null ? null : String(latitude), longitude },
})
/** The service of these tests places every server in Oslo. */
const oslo = { latitude: 59.9, longitude: 10.7 }
const paris = { latitude: 48.9, longitude: 2.4 }
const beacons = async () => [beacon('Oslo', 59.9, 10.7), beacon('Paris', 48.9, 2.4), beacon('Nowhere', null, null)]
const near = { ...duel, rules: [{ kind: 'latency', maxMs: 80, missing: 'any' }] } as const
const ann = { Oslo: 40, Paris: 30, Nowhere: 200 }
const ben = { Oslo: 45, Paris: 70, Nowhere: 200 }

function play(
  options: Parameters<typeof setUp>[0] = {},
  latencies: readonly Readonly<Record<string, number>>[] = [ann, ben],
) {
  const all = setUp({ queues: [near], beacons, ...options })
  for (const [index, one] of latencies.entries()) {
    all.matchmaker.createTicket({
      id: `t${index}`,
      queue: 'duel',
      players: [{ id: `p${index}`, ip: '198.51.100.7', latencies: one }],
    })
  }
  const asked = () =>
    all.service.calls.create.map(({ users }) =>
      users.map(({ user_data: data }) => ('latitude' in data ? data : data.ip_address)),
    )
  return { ...all, asked }
}

test('a server is created at the best common beacon, and all events and views name this beacon', async () => {
  const { matchmaker, service, seen, asked, run } = play()
  const ready: unknown[] = []
  matchmaker.on('deploymentReady', ({ placed }) => ready.push(placed))
  await run(8000)
  expect(asked()).toEqual([[oslo]])
  const placement = { beacon: 'Oslo', coordinates: oslo, worstMs: 45, meanMs: 42.5, limitMs: 80 }
  expect(ready).toEqual([{ ...placement, offKm: 0 }])
  expect(matchmaker.inspect().matches).toMatchObject([{ placement }])
  expect(matchmaker.explain('t0')).toMatchObject({
    placement,
    summary: 'Its match has a server. Its server is placed at the beacon Oslo, at most 80 ms from every player.',
  })
  const variables = service.calls.create[0]?.environment_variables ?? []
  const told = Object.fromEntries(variables.map(({ key, value }) => [key, value]))
  expect(told).toMatchObject({ MM_BEACON: 'Oslo', MM_BEACON_LATENCY_MS: '45', MM_BEACON_LIMIT_MS: '80' })
  // Players see the limit of the rule, but no latencies of others.
  expect(seen.serverAssigned?.[0]?.assignment.promised).toEqual({ beacon: 'Oslo', latencyMs: 80 })
  expect(JSON.stringify(seen.serverAssigned)).not.toMatch(/\b4[25]\b/)
})

describe('a server without capacity at the best beacon', () => {
  const full = {
    fault: (method: string, nth: number) =>
      method === 'create' && nth === 1
        ? { error: new NoCapacity('full', { requestId: 'r1' }), effect: true }
        : undefined,
    fate: (nth: number) => (nth === 1 ? { errorMs: 0 } : { readyMs: 1000 }),
  }

  test('without capacity at the best beacon a server is created at the next best, as the assignment says', async () => {
    const { matchmaker, seen, asked, run } = play({ service: full })
    await run(8000)
    expect(asked()).toEqual([[oslo], [paris]])
    expect(seen.serverAssigned?.[0]?.assignment.promised?.beacon).toBe('Paris')
    expect(matchmaker.inspect().matches).toMatchObject([{ placement: { beacon: 'Paris', worstMs: 70 } }])
  })

  test('without capacity at beacons within the limit no server is created, and the tickets search again', async () => {
    const { seen, asked, run } = play({ service: full }, [ann, { Oslo: 45, Paris: 90 }])
    await run(700)
    expect(asked()).toEqual([[oslo]])
    expect(seen.ticketRequeued).toMatchObject([{ reason: 'no-capacity' }, { reason: 'no-capacity' }])
  })
})

describe('a server without a usable beacon', () => {
  const addresses = [['198.51.100.7', '198.51.100.7']]

  test.each<[string, Parameters<typeof setUp>[0], readonly Readonly<Record<string, number>>[], number]>([
    ['no place of a beacon is known', {}, [{ Nowhere: 20 }, { Nowhere: 30 }], 1],
    ['no player has measured a latency', {}, [{}, {}], 0],
    ['the list of beacons fails', { beacons: () => Promise.reject(new Error('down')) }, [ann, ben], 1],
    ['the matchmaker has no list of beacons', { beacons: undefined }, [ann, ben], 0],
  ])(
    'a server without a usable beacon is placed by the addresses of the players: %s',
    async (_, options, latencies, problems) => {
      const { seen, asked, run } = play(options, latencies)
      await run(8000)
      expect(asked()).toEqual(addresses)
      expect(seen.serverAssigned?.[0]?.assignment.promised).toBeUndefined()
      expect(seen.problem?.map(({ during }) => during) ?? []).toEqual(Array.from({ length: problems }, () => 'beacons'))
    },
  )
})

test('a slow list of beacons delays the create up to a limit, and the match may be dissolved meanwhile', async () => {
  const { clock, matchmaker, asked, run } = play({ beacons: () => new Promise(() => {}) })
  await run(500)
  expect(asked()).toEqual([])
  await run(1000)
  expect(asked()).toHaveLength(1)
  await clock.until(matchmaker.close({ stopServers: true }))

  const other = play({ beacons: () => new Promise(() => {}) })
  await other.run(500)
  other.matchmaker.cancelTicket('t0')
  await other.run(2000)
  expect(other.asked()).toEqual([])
})

test('the list of beacons comes from `locations` by default', async () => {
  async function* all() {
    yield* await beacons()
  }
  const { asked, run } = play({
    beacons: undefined,
    locations: { list: async () => ({ locations: [] }), beacons: { all } },
  })
  await run(1000)
  expect(asked()).toEqual([[oslo]])
})
