import { createMemoryLobbyStore, type Attributes, type Lobby, type LobbyStore, type StoredLobby } from '@muster/relay'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeRedis, openRedis, type RedisUnderTest } from '../redis.fixture.js'
import { createRedisLobbyStore } from './lobby-store.js'
import { lobbyOf } from './lobby.fixture.js'

/** Strings with a special meaning for the indexes: line ends, quotes, spaces and their own marks. */
const strange = ['a b', 'a"', 'a" b', 'a\nb', '\n+listed', '*listed', '', '1', 'true', 'é', '\ud800', '\0']
const text = fc.constantFrom('a', 'b', ...strange)
/** Few different values, so that searches often find something. Some differ only by their type. */
const value = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('1', 1, 'true', true) },
  { weight: 1, arbitrary: fc.oneof(text, fc.constantFrom(-0, 0, 1e21, 0.1)) },
)
const data: fc.Arbitrary<Attributes> = fc.dictionary(fc.constantFrom('a', 'b'), value, { maxKeys: 2 })
const players = fc.uniqueArray(
  text.filter((one) => one !== ''),
  { maxLength: 4 },
)
const number = fc.integer({ min: 0, max: 7 })
const changes = fc.record({
  data,
  phase: fc.constantFrom('open', 'starting', 'running', 'closed'),
  maxPlayers: fc.integer({ min: 4, max: 6 }),
  lateJoin: fc.boolean(),
})
const visibility = fc.constantFrom('public', 'private')
const dueAt = fc.nat(20)
const write = { number, players, changes, dueAt }
const create = fc.record({ do: fc.constant('create'), ...write, visibility })
const replace = fc.record({ do: fc.constant('replace'), ...write, stale: fc.boolean() })
const seen = fc.record({ do: fc.constant('seen'), number, player: text, stale: fc.boolean(), now: fc.nat(20), dueAt })
const remove = fc.record({ do: fc.constant('delete'), number })
const limit = fc.integer({ min: 1, max: 3 })
const look = fc.record({ do: fc.constant('look'), data, minFree: fc.nat(3), limit, player: text, now: fc.nat(20) })
const command = fc.oneof(
  { weight: 3, arbitrary: create },
  { weight: 4, arbitrary: replace },
  { weight: 3, arbitrary: seen },
  { weight: 1, arbitrary: remove },
  { weight: 3, arbitrary: look },
) as fc.Arbitrary<Command>

interface Command {
  readonly do: 'create' | 'replace' | 'seen' | 'delete' | 'look'
  readonly number: number
  readonly players: readonly string[]
  readonly changes: Partial<Lobby>
  readonly visibility: Lobby['visibility']
  readonly stale: boolean
  readonly dueAt: number
  readonly data: Attributes
  readonly minFree: number
  readonly limit: number
  readonly player: string
  readonly now: number
}

/** Returns the result of a command on a store. */
async function answer(store: LobbyStore, given: Command): Promise<unknown> {
  const id = `id-${given.number}`
  switch (given.do) {
    case 'create':
      return store.create(lobbyOf(id, given.players, { ...given.changes, visibility: given.visibility }), given.dueAt)
    case 'replace': {
      const stored = await store.get(id)
      if (stored === undefined) return undefined
      const { code, visibility: same } = stored.lobby
      const version = stored.version - Number(given.stale)
      const lobby = lobbyOf(id, given.players, { ...given.changes, code, visibility: same })
      return store.replace(lobby, version, given.dueAt)
    }
    case 'seen': {
      const stored = await store.get(id)
      const member = stored?.lobby.members.find((one) => one.id === given.player)
      if (stored === undefined || member === undefined) return undefined
      const members = stored.lobby.members.map((one) => (one === member ? { ...one, lastSeenAt: given.now } : one))
      return store.noteSeen(
        { ...stored.lobby, members },
        stored.version - Number(given.stale),
        given.player,
        given.dueAt,
      )
    }
    case 'delete':
      return store.delete(id, (await store.get(id))?.version ?? 1)
    case 'look':
      return {
        pages: await pages(store, given),
        ofPlayer: (await store.idsOf(given.player)).toSorted(),
        due: (await store.due(given.now, 100)).toSorted(),
        ids: (await store.ids()).toSorted(),
        byCode: (await store.getByCode('code-id-3'))?.version,
        record: plain(await store.get('id-3')),
      }
  }
}

async function pages(store: LobbyStore, { data: wanted, minFree, limit }: Command): Promise<readonly string[][]> {
  const all: string[][] = []
  for (let after: string | undefined; ;) {
    const { lobbies, next } = await store.listPublic({ data: wanted, minFree, limit, after })
    all.push(lobbies.map(({ id }) => id))
    if (next === undefined) return all
    after = next
  }
}

/** Returns a lobby as JSON keeps it: without undefined fields, and with 0 instead of -0. */
const plain = (stored: StoredLobby | undefined): unknown =>
  stored && JSON.parse(JSON.stringify({ version: stored.version, lobby: stored.lobby }))

describeRedis('the lobby store in Redis', () => {
  let it: RedisUnderTest
  let runs = 0
  beforeAll(async () => {
    it = await openRedis()
  })
  afterAll(() => it.close())

  test('the Redis lobby store gives the same answers as the store in memory for any commands', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 40 }), async (commands) => {
        runs += 1
        const [memory, shared] = [createMemoryLobbyStore(), createRedisLobbyStore({ redis: it.redis, name: `${runs}` })]
        for (const one of commands) expect(await answer(shared, one)).toEqual(await answer(memory, one))
      }),
      { numRuns: 50 },
    )
  })

  test('the Redis lobby store finds the lobby with two attributes among many with one of them', async () => {
    const store = createRedisLobbyStore({ redis: it.redis, name: 'rare' })
    const rare = { mode: 'duel', map: 'ice' }
    await store.create(lobbyOf('rare', ['ann'], { data: rare }), 1)
    const others = Array.from({ length: 600 }, (_, at) => lobbyOf(`${at}`, [], { data: { mode: 'duel' } }))
    await Promise.all(others.map((lobby) => store.create(lobby, 1)))
    const query = { data: rare, minFree: 1, limit: 20, after: undefined }
    const { lobbies, next } = await store.listPublic(query)
    expect({ ids: lobbies.map(({ id }) => id), next }).toEqual({ ids: ['rare'], next: undefined })
    const none = await store.listPublic({ ...query, data: { mode: 'duel' }, minFree: 5 })
    expect(none.lobbies).toEqual([])
    expect(none.next).toBeDefined()
  })
})
