import { expect, test } from 'vitest'
import { InvalidTicket } from './errors.js'
import { deploy, duel, setUp } from './matchmaker.fixture.js'

const ping = { name: 'ping', matchSize: 2, rules: [{ kind: 'latency', maxMs: 100 }], deploy } as const
const london = { city: 'London', latitude: 51.5, longitude: -0.1 }
const beacon = {
  host: '203.0.113.1',
  location: { ...london, country: '', continent: '', administrative_division: '', timezone: '' },
}
const near = (id: string) => ({ queue: 'ping', players: [{ id, latencies: { London: 20 } }] })

test('a ticket needs no place in a queue whose latency rule chooses the place of the server', async () => {
  const { matchmaker, service, run } = setUp({ queues: [ping], beacons: async () => [beacon] })
  const { id } = matchmaker.createTicket(near('ann'))
  matchmaker.createTicket(near('ben'))
  await run(8000)
  expect(matchmaker.getTicket(id)?.status).toBe('HOST_ASSIGNED')
  const { latitude, longitude } = london
  expect(service.calls.create[0]?.users).toEqual([{ user_type: 'geo_coordinates', user_data: { latitude, longitude } }])
})

test('without a beacon of known place no server is created, and the tickets wait until they expire', async () => {
  const { matchmaker, service, run, seen } = setUp({
    queues: [{ ...ping, expireAfterMs: 60_000 }],
    beacons: async () => [],
  })
  const { id } = matchmaker.createTicket(near('ann'))
  matchmaker.createTicket(near('ben'))
  await run(30_000)
  expect(matchmaker.getTicket(id)).toMatchObject({ status: 'SEARCHING', waitingFor: 'retry', attempts: 0 })
  expect(service.calls.create).toEqual([])
  expect(seen.problem?.map(({ error }) => String(error)).join()).toContain(
    'no player of the match has ip, coordinates, or a beacon with a known location',
  )
  await run(31_000)
  expect(matchmaker.getTicket(id)).toMatchObject({ status: 'CANCELLED', cancelReason: 'expired' })
})

test('a ticket without a place is refused unless all its queues have a latency rule', () => {
  const { matchmaker } = setUp({ queues: [ping, duel] })
  const create = () => matchmaker.createTicket({ queues: ['ping', 'duel'], players: near('ann').players })
  expect(create).toThrow(InvalidTicket)
  expect(create).toThrow(
    'players.0: set ip or coordinates. Queue "duel" has no latency rule, so its servers are placed by player location.',
  )
})
