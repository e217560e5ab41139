import { createLobbies, type LobbyRefused, type Lobbies, type LobbyMessage } from '@muster/relay'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createRedisLimitStore } from '../attempts/limit-store.js'
import { describeRedis, eventually, openRedis, type RedisUnderTest } from '../redis.fixture.js'
import { createRedisLobbyStore, type RedisLobbyStore } from './lobby-store.js'

const ann = { id: 'ann', ip: '192.0.2.1' }
const ben = { id: 'ben', ip: '192.0.2.2' }

describeRedis('lobbies of two processes', () => {
  let it: RedisUnderTest
  let stores: RedisLobbyStore[]
  let all: Lobbies[]
  const handedOver: string[] = []
  beforeEach(async () => {
    it = await openRedis({ appendOnly: 'always' })
    stores = []
    all = []
  })
  afterEach(async () => {
    await Promise.all(all.map((lobbies) => lobbies.close({ keepLobbies: true })))
    for (const store of stores) store.close()
    await it.close()
  })

  /** Opens the lobbies of one process. */
  const open = async (): Promise<Lobbies> => {
    const redis = await it.connect()
    const store = createRedisLobbyStore({ redis })
    stores.push(store)
    const matchmaker = {
      handOver: async ({ key }: { readonly key: string }) => {
        handedOver.push(key)
        return { reference: `ticket-${key}` }
      },
      withdraw: async () => {},
    }
    const lobbies = createLobbies({
      matchmaker,
      store,
      limitStore: createRedisLimitStore({ redis, timeoutMs: 10_000 }),
    })
    all.push(lobbies)
    return lobbies
  }
  /** Follows a lobby and collects its messages. */
  const follow = (lobbies: Lobbies, lobbyId: string, playerId: string) => {
    const messages: LobbyMessage[] = []
    const followed = (async () => {
      for await (const message of lobbies.follow({ lobbyId, playerId })) messages.push(message)
    })()
    followed.catch(() => {}) // the lobbies are closed at the end
    const types = () => messages.map(({ type }) => type)
    return { messages, types, followed }
  }

  test('two processes share their lobbies, and members are notified of every change', async () => {
    const [here, there] = [await open(), await open()]
    const { lobbyId, code } = await here.create({ player: ann, maxPlayers: 2, requireReady: false })
    const annSees = follow(here, lobbyId, 'ann')
    await eventually(annSees.types).toEqual(['snapshot'])
    expect(await there.join({ player: ben, code })).toMatchObject({ status: 'joined' })
    const benSees = follow(there, lobbyId, 'ben')
    await eventually(benSees.types).toEqual(['snapshot'])
    await eventually(annSees.types).toEqual(['snapshot', 'member.joined'])
    await here.start({ lobbyId, playerId: 'ann' })
    await eventually(benSees.types).toContain('match.handed-over')
    const key = handedOver.at(-1) as string
    // Any process may report the match, not only the one that handed the players over.
    expect(await there.reportMatch({ key, status: 'assigned', assignment: { host: 'game.example' } })).toBe(true)
    await eventually(annSees.types).toContain('match.assigned')
    await there.leave({ lobbyId, playerId: 'ben' })
    await benSees.followed
    await eventually(annSees.types).toContain('member.left')
    expect(handedOver.filter((one) => one === key)).toHaveLength(1)
  })

  test('two processes count the join attempts of a player together', async () => {
    const [here, there] = [await open(), await open()]
    const guess = (lobbies: Lobbies) =>
      lobbies.join({ player: ben, code: 'BCDFGHJK' }).catch((error: LobbyRefused) => error.code)
    const codes = []
    for (let guesses = 0; guesses < 12; guesses += 1) codes.push(await guess(guesses % 2 === 0 ? here : there))
    expect(codes.filter((one) => one === 'not-joinable')).toHaveLength(10)
    expect(codes.slice(10)).toEqual(['too-many-attempts', 'too-many-attempts'])
  })

  test('lobbies continue after Redis was killed and has its data again', async () => {
    const [here, there] = [await open(), await open()]
    const { lobbyId, code } = await here.create({ player: ann, maxPlayers: 2 })
    await it.server.kill()
    await expect(there.join({ player: ben, code })).rejects.toMatchObject({ name: 'RedisDisconnected' })
    await it.server.restart()
    await eventually(() =>
      there.join({ player: ben, code }).then(
        ({ status }) => status,
        () => '',
      ),
    ).toBe('joined')
    const annSees = follow(here, lobbyId, 'ann')
    await eventually(annSees.types).toEqual(['snapshot'])
    await there.setReady({ lobbyId, playerId: 'ben', ready: true })
    await eventually(annSees.types).toContain('member.ready')
  })

  test('after Redis restarted without data, members of lost lobbies are notified and new lobbies work', async () => {
    await it.close()
    it = await openRedis()
    const [here, there] = [await open(), await open()]
    const { lobbyId, code } = await here.create({ player: ann, maxPlayers: 2 })
    const annSees = follow(here, lobbyId, 'ann')
    await eventually(annSees.types).toEqual(['snapshot'])
    await it.server.kill()
    await it.server.restart()
    await expect(annSees.followed).rejects.toThrow()
    await eventually(() => there.join({ player: ben, code }).catch(({ code: why }) => why)).toBe('not-joinable')
    const again = await here.create({ player: ann, maxPlayers: 2 })
    expect(await there.join({ player: ben, code: again.code })).toMatchObject({ status: 'joined' })
  })

  test('lobbies can be closed but not created while Redis is full', async () => {
    const [here, there] = [await open(), await open()]
    const { lobbyId, code } = await here.create({ player: ann, maxPlayers: 2 })
    await it.server.ask('CONFIG SET maxmemory 1')
    await expect(there.create({ player: ben, maxPlayers: 2 })).rejects.toMatchObject({ name: 'RedisFull' })
    await there.join({ player: ben, code })
    await there.leave({ lobbyId, playerId: 'ben' })
    await there.end({ lobbyId, playerId: 'ann' })
    expect(await stores[0]?.get(lobbyId)).toMatchObject({ lobby: { phase: 'closed' } })
    await it.server.ask('CONFIG SET maxmemory 0')
    await there.create({ player: ben, maxPlayers: 2 })
  })

  test('lobbies can be read but not changed while Redis is a replica', async () => {
    const here = await open()
    const { lobbyId } = await here.create({ player: ann, maxPlayers: 2 })
    await it.server.ask(`REPLICAOF 127.0.0.1 ${it.server.port}`)
    await expect(here.create({ player: ben, maxPlayers: 2 })).rejects.toMatchObject({ name: 'RedisReadOnly' })
    const ready = { lobbyId, playerId: 'ann', ready: true }
    await expect(here.setReady(ready)).rejects.toMatchObject({ name: 'RedisReadOnly' })
    expect(await here.get({ lobbyId, playerId: 'ann' })).toMatchObject({ lobbyId })
    await it.server.ask('REPLICAOF NO ONE')
    await here.setReady(ready)
  })
})
