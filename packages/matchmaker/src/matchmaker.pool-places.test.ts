/** Tests where servers of a pool count as located, and for which matches they are kept warm. */
import { createMemoryStore, type PoolDefinition, type StoreMemory } from '@muster/hosting'
import { expect, test } from 'vitest'
import { open } from './listed-servers.fixture.js'

const frankfurt = { latitude: 50.1, longitude: 8.7 }
const tokyo = { latitude: 35.7, longitude: 139.7 }
const beacon = (city: string, at: typeof tokyo) => ({
  host: '203.0.113.1',
  location: { ...at, city, country: '', continent: '', administrative_division: '', timezone: '' },
})
const beacons = async () => [beacon('Frankfurt', frankfurt), beacon('Tokyo', tokyo)]
const queues = [{ name: 'duel', matchSize: 2, pool: 'arena', rules: [{ kind: 'latency', maxMs: 100 } as const] }]
const pool: PoolDefinition = {
  name: 'arena',
  deploy: { application: 'game', version: '1' },
  places: [{ name: 'Frankfurt', ...frankfurt }],
  reuse: { maxMatches: 20 },
  keepIdleSeconds: 3600,
}

type Game = ReturnType<typeof open>
let games = 0
/** Starts a match of two players with these round trips. */
const begin = (game: Game, latencies: Record<string, number>) => {
  games += 1
  const ids = [`a${games}`, `b${games}`]
  for (const id of ids) game.matchmaker.createTicket({ id, queue: 'duel', players: [{ id, latencies }] })
  return ids[0] as string
}
const fromTokyo = { Tokyo: 10, Frankfurt: 230 }
const fromFrankfurt = { Tokyo: 230, Frankfurt: 10 }
const endOf = async (game: Game, id: string) => {
  await game.matchmaker.stopMatch(game.matchmaker.getTicket(id)?.matchId ?? '')
  await game.run(2000)
}

/** The service reports a server's location only in its status, or never. */
test.each(['in the status', 'nowhere'])(
  'a server created for Tokyo serves no match in Frankfurt if the service gives its location %s',
  async (where) => {
    const location = (input: { users: readonly { user_data: object }[] }) =>
      where === 'nowhere' ? undefined : (input.users[0]?.user_data as typeof tokyo)
    const memory: StoreMemory = new Map()
    const options = { queues, pools: [pool], beacons }
    const service = { fate: () => ({ readyMs: 3000 }), location }
    const game = open({ ...options, service, store: createMemoryStore(memory) })
    const first = begin(game, fromTokyo)
    await game.run(9000)
    expect(game.status(first)).toBe('HOST_ASSIGNED')
    await endOf(game, first)
    const second = begin(game, fromFrankfurt)
    await game.run(9000)
    expect(game.status(second)).toBe('HOST_ASSIGNED')
    const hosts = game.service.calls.create.map(({ users }) => users[0]?.user_data)
    expect(hosts).toEqual([tokyo, frankfurt])
    await endOf(game, second)
    // The warm server in Tokyo serves the next players from Tokyo.
    const third = begin(game, fromTokyo)
    await game.run(3000)
    expect([game.status(third), game.service.calls.create.length]).toEqual(['HOST_ASSIGNED', 2])
    expect(game.matchmaker.getTicket(third)?.assignment?.fqdn).toBe('r1.example.com')
  },
)

test('matches that no place of the pool can serve keep no servers warm', async () => {
  const game = open({
    queues,
    pools: [{ ...pool, warm: { hit: 0.95, maxIdleShare: 10 }, keepIdleSeconds: 0 }],
    beacons,
  })
  for (let nth = 0; nth < 30; nth += 1) {
    const id = begin(game, fromTokyo)
    await game.run(9000)
    await endOf(game, id)
  }
  const [place] = game.matchmaker.inspect().pools
  expect(place).toMatchObject({ place: 'Frankfurt', wanted: 0, cameLastHour: 0 })
  const created = game.service.calls.create.map(({ users }) => JSON.stringify(users))
  expect(created.length).toBeGreaterThan(0)
  expect(created.filter((users) => !users.includes('139.7'))).toEqual([])
})

test('matches that a place can serve keep servers warm there, even if another place would suit better', async () => {
  const game = open({ queues, pools: [{ ...pool, warm: { hit: 0.95, maxIdleShare: 10 }, detourMs: 60 }], beacons })
  for (let nth = 0; nth < 30; nth += 1) {
    const id = begin(game, { Tokyo: 40, Frankfurt: 80 })
    await game.run(9000)
    await endOf(game, id)
  }
  const [place] = game.matchmaker.inspect().pools
  expect(place?.wanted).toBeGreaterThan(0)
})
