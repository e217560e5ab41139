import { NoCapacity, ServerError } from '@muster/core'
import type { CreateDeployment } from '@muster/core/api'
import { describe, expect, test } from 'vitest'
import { deploy, duel, setUp } from './matchmaker.fixture.js'
import { createMemoryServerLog, type LocationService } from '@muster/hosting/internal'

const places: LocationService = {
  list: async () => ({
    locations: [{ latitude: '35.7', longitude: '139.7' }, { latitude: 48.9, longitude: 2.4 }, { city: 'Atlantis' }],
  }),
}
const usersOf = (creates: readonly CreateDeployment[]) => creates.map(({ users }) => users[0]?.user_data)

describe('a match whose create fails for lack of capacity', () => {
  /**
   * Returns a service on which the first `times` creates fail with NoCapacity and leave a deployment without a server.
   */
  const full = (times: number) => ({
    fault: (method: string, nth: number) =>
      method === 'create' && nth <= times
        ? { error: new NoCapacity('full', { requestId: `r${nth}` }), effect: true }
        : undefined,
    fate: (nth: number) => (nth <= times ? { errorMs: 0 } : { readyMs: 1000 }),
  })
  const cached = { ...duel, deploy: { ...deploy, requireCachedLocations: true } }

  test('a match without capacity is retried without cached locations once its failed create is stopped', async () => {
    const { matchmaker, service, seen, join, run } = setUp({ queues: [cached], service: full(1) })
    join('ann', 'ben')
    await run(10_000)
    expect(service.calls.create.map(({ require_cached_locations }) => require_cached_locations)).toEqual([
      true,
      undefined,
    ])
    const matchId = seen.matchFound?.[0]?.matchId
    expect(service.calls.create.map(({ tags }) => tags?.[1])).toEqual([`match-${matchId}`, `match-${matchId}-2`])
    expect(matchmaker.getTicket('ann-ben')).toMatchObject({ status: 'HOST_ASSIGNED', attempts: 0, matchId })
    expect(seen.ticketRequeued).toBeUndefined()
    expect(seen.deploymentStopped).toMatchObject([{ requestId: 'r1', reason: 'no-capacity' }])
    expect(service.unstopped()).toEqual(['r2'])
  })

  test('a match without capacity is retried at places with capacity, nearest first', async () => {
    const { matchmaker, service, seen, run } = setUp({ locations: places, service: full(3) })
    matchmaker.createTicket({
      id: 'pair',
      queue: 'duel',
      players: [
        { id: 'ann', coordinates: { latitude: 50, longitude: 3 } },
        { id: 'ben', coordinates: { latitude: 50, longitude: 3 } },
      ],
    })
    await run(6000)
    expect(usersOf(service.calls.create.slice(0, 3))).toEqual([
      { latitude: 50, longitude: 3 },
      { latitude: 48.9, longitude: 2.4 },
      { latitude: 35.7, longitude: 139.7 },
    ])
    expect(seen.ticketRequeued).toMatchObject([{ reason: 'no-capacity', ticket: { attempts: 1 } }])
    await run(10_000)
    expect(matchmaker.getTicket('pair')?.status).toBe('HOST_ASSIGNED')
    expect(service.unstopped()).toEqual(['r4'])
  })

  test('a match without capacity returns its tickets if the list of places cannot be read', async () => {
    const broken: LocationService = { list: () => Promise.reject(new ServerError('down')) }
    const { seen, join, run } = setUp({ locations: broken, service: full(1) })
    join('ann', 'ben')
    await run(2000)
    expect(seen.problem?.map(({ during }) => during)).toEqual(['create', 'list'])
    expect(seen.ticketRequeued).toMatchObject([{ reason: 'no-capacity' }])
  })

  test('tickets search again although the deployment of their failed create can be stopped only later', async () => {
    const { service, seen, join, run } = setUp({
      queues: [cached],
      service: {
        ...full(1),
        fault: (method, nth) =>
          method === 'stop' && nth < 6 ? { error: new ServerError('down') } : full(1).fault(method, nth),
      },
    })
    join('ann', 'ben')
    await run(12_000)
    expect(seen.ticketRequeued).toMatchObject([{ reason: 'no-capacity' }])
    await run(40_000)
    expect(service.unstopped()).toEqual(['r2'])
  })

  test('a match without capacity is not retried if one of its tickets is cancelled in between', async () => {
    const { matchmaker, service, join, run } = setUp({ queues: [cached], service: full(1) })
    join('ann', 'ben')
    await run(250)
    matchmaker.cancelTicket('ann-ben')
    await run(10_000)
    expect(service.calls.create).toHaveLength(1)
    expect(matchmaker.inspect().matches).toEqual([])
  })

  test('the store has the latest create of a match if the process ends between two placement attempts', async () => {
    const serverLog = createMemoryServerLog()
    const { service, join, run } = setUp({ serverLog, queues: [cached], service: full(1) })
    join('ann', 'ben')
    await run(750)
    const { servers } = await serverLog.open()
    expect(service.calls.create).toHaveLength(2)
    expect(servers).toMatchObject([{ tag: expect.stringMatching(/-2$/) as string, requestId: 'r2' }])
  })
})
