import { createMatchmaker, createTicketApi } from '@muster/matchmaker'
import { aGroup, testGroupStore } from '@muster/matchmaker/group-store-suite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeEachRedis, describeRedis, openRedis, type RedisUnderTest } from '../redis.fixture.js'
import { RedisError } from '../connection/connection-errors.js'
import { defineScript } from '../connection/index.js'
import { createRedisGroupStore } from './group-store.js'

test.each([
  [{ redis: {} }, 'redis', 'createRedisGroupStore: option redis must be a connection made by connectRedis'],
  [{ name: 'a b' }, 'name', "createRedisGroupStore: option name must be 1 to 64 letters, digits, '.', '_' and '-'"],
  [{ idleMs: 0 }, 'idleMs', 'createRedisGroupStore: option idleMs'],
  [{ mostGroup: 1 }, 'mostGroup', 'did you mean mostGroups?'],
])('the group store refuses the options %j by name', (changes, field, message) => {
  const create = () => createRedisGroupStore({ redis: { run: () => {} } as never, ...(changes as object) })
  expect(create).toThrow(expect.objectContaining({ name: 'InvalidInput', field }))
  expect(create).toThrow(message)
})

/** Changes the times of a store as if nobody had called it for an hour. */
const HOUR_PASSES = defineScript({
  name: 'test.hour-passes',
  lua: `
for _, id in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do redis.call('ZINCRBY', KEYS[2], -3600000, id) end
local calledAt, missed = string.match(redis.call('HGET', KEYS[1], '') or '', '^(%d+) (-?%d+)$')
if calledAt then redis.call('HSET', KEYS[1], '', string.format('%.0f %s', calledAt - 3600000, missed)) end
return 1
`,
  read: Number,
})

/** Changes the times of groups as if they were read that many milliseconds earlier. */
const GROUPS_AGE = defineScript({
  name: 'test.groups-age',
  lua: `
for _, id in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do redis.call('ZINCRBY', KEYS[1], -ARGV[1], id) end
return 1
`,
  read: Number,
})

describeEachRedis((where, it) => {
  let stores = 0
  const open = async (idleMs: number, mostGroups: number) => {
    stores += 1
    const options = { name: `${stores}`, idleMs, searchingMs: idleMs * 4, mostGroups }
    const [redis, another] = [await it().connect(), await it().connect()]
    const store = createRedisGroupStore({ redis, ...options })
    const other = createRedisGroupStore({ redis: another, ...options })
    const key = redis.keys(`groups.${stores}`)
    const pass = async (ms: number) => void (await redis.run(GROUPS_AGE, [key('z')], [ms]))
    return { store, other, pass }
  }

  testGroupStore(`the store in ${where}`, async () => {
    const idleMs = 60_000
    return { ...(await open(idleMs, 2)), idleMs }
  })

  test('a group is kept if nobody could read it, because Redis was away or its clock was set forward', async () => {
    const { store } = await open(6000, 10)
    const redis = await it().connect()
    const key = redis.keys(`groups.${stores}`)
    await store.create(aGroup('one', ['ann']))
    await redis.run(HOUR_PASSES, [key('p'), key('z')], [])
    expect(await store.find('one')).toBeDefined()
    expect((await store.gathering('ann'))?.group.id).toBe('one')
  })

  test('a group that searches is kept in Redis longer than a group that gathers', async () => {
    const { store, pass } = await open(60_000, 10)
    await store.create(aGroup('one', ['ann'], { searchingSince: 5 }))
    await store.create(aGroup('two', ['bob']))
    await pass(120_000)
    expect(await store.find('two')).toBeUndefined()
    expect(await store.find('one')).toBeDefined()
  })
})

describeRedis('groups of the ticket APIs of two processes', () => {
  let it: RedisUnderTest
  beforeAll(async () => {
    it = await openRedis()
  })
  afterAll(() => it.close())

  const nothing = async () => {
    throw new Error('nobody asks')
  }
  const errors: unknown[] = []
  const queues = [{ name: 'duel', matchSize: 4, deploy: { application: 'game', version: '1' } }]
  const open = async () =>
    createTicketApi(
      createMatchmaker({ deployments: { create: nothing, get: nothing, stop: nothing, list: nothing }, queues }),
      {
        authenticate: (request) => ({ id: request.headers.get('authorization') ?? 'nobody' }),
        groups: createRedisGroupStore({ redis: await it.connect() }),
        onError: (error) => errors.push(error),
      },
    )

  test('groups joined in one process are seen in the other, and answered by 503 while Redis is down', async () => {
    const [first, second] = [await open(), await open()]
    const call = async (api: typeof first, id: string, method: string, path: string, body?: object) => {
      const headers = { authorization: id, 'content-type': 'application/json' }
      const given = body === undefined ? {} : { body: JSON.stringify(body) }
      const request = new Request(`http://game.example${path}`, { method, headers, ...given })
      const response = await api(request, { remoteAddress: '192.0.2.1' })
      return { status: response.status, json: (await response.json()) as { readonly group_id: string } }
    }
    const body = { profile: 'duel', attributes: {}, is_ready: false }
    const { json: ann } = await call(first, 'ann', 'POST', '/groups', body)
    const path = `/groups/${ann.group_id}`
    expect((await call(second, 'bob', 'POST', `${path}/members`, body)).status).toBe(201)
    const members = [{ player_id: 'ann' }, { player_id: 'bob' }]
    expect(await call(first, 'ann', 'GET', path)).toMatchObject({ json: { status: 'FORMING', members } })
    await call(first, 'bob', 'POST', '/groups', body)
    expect(await call(second, 'ann', 'GET', path)).toMatchObject({ json: { members: [{ player_id: 'ann' }] } })
    await it.server.kill()
    expect(await call(second, 'ann', 'GET', path)).toMatchObject({ status: 503, json: { code: 'unavailable' } })
    expect(errors).toEqual([expect.any(RedisError)])
    await it.server.restart()
  })
})
