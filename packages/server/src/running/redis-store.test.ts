import { skipsRedis, startRedisServer, type RedisServer } from '@muster/redis-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Found } from '@muster/console/wire'
import { BACKEND_KEY, OPERATE_KEY, openServer, openService, yamlOf } from './server.fixture.js'

describe.skipIf(skipsRedis())('a store in Redis', () => {
  let redis: RedisServer
  let service: Awaited<ReturnType<typeof openService>>
  beforeAll(async () => {
    redis = await startRedisServer()
    service = await openService()
  })
  afterAll(async () => {
    await service.emulator.close()
    await redis.close()
  })
  const open = () =>
    openServer(yamlOf(service.url, `store: { redis: { url: "${redis.url}" } }\nlobbies: { enabled: true }`))

  test('two programs are one: a ticket of one is known to the other, and stays when the one ends', async () => {
    const [one, other] = [await open(), await open()]
    const create = async (player: string) => {
      const body = { profile: 'duel', player_id: player, player_ip: '192.0.2.7', attributes: {} }
      const answer = await one.ask('POST', '/tickets', { token: BACKEND_KEY, body })
      return ((await answer.json()) as { id: string }).id
    }
    const id = await create('ann')
    const read = () => other.ask('GET', `/tickets/${id}`, { token: BACKEND_KEY })
    expect((await read()).status).toBe(200)
    const eventually = <T>(look: () => T) => expect.poll(look, { timeout: 20_000, interval: 50 })
    // Nothing is sent to the service at first: an earlier process may just have used its limits.
    await eventually(async () => (await other.ask('GET', '/readyz')).json()).toEqual({ ready: true, why: [] })
    const waiting = 'muster_players_waiting{muster_queue="duel"} 1'
    await eventually(async () => {
      const metrics = await Promise.all([one, other].map(async ({ ask }) => (await ask('GET', '/metrics')).text()))
      return metrics.filter((text) => text.includes(waiting)).length
    }).toBe(1)
    // The story of a ticket is told by every process, and outlives the one that took it.
    const story = async ({ ask }: typeof one) => {
      const answer = await ask('GET', `/console/api/find?id=${id}`, { token: OPERATE_KEY })
      return ((await answer.json()) as Found).stories[0]?.events.map(({ what }) => what)
    }
    for (const program of [one, other]) await eventually(() => story(program)).toEqual(['created'])
    expect(await one.server.close()).toBe(true)
    await eventually(() => story(other)).toEqual(['created'])
    expect(await (await read()).json()).toMatchObject({ id, status: 'SEARCHING' })
    await other.server.close()
  })
})
