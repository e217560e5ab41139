import type { LimitStore } from '@muster/core/http'
import { createMatchmaker, createTicketApi } from '@muster/matchmaker'
import { createLobbyApi, LobbyRefused, type Lobbies } from '@muster/relay'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeRedis, openRedis, type RedisUnderTest } from '../redis.fixture.js'
import { createRedisLimitStore } from './limit-store.js'

const authenticate = (request: Request) => ({ id: request.headers.get('authorization') ?? 'nobody' })
const limits = { perCaller: { limit: 4, windowMs: 600_000 }, perAddress: { limit: 7, windowMs: 600_000 } }

const nothing = async () => {
  throw new Error('nobody asks')
}
const deployments = { create: nothing, get: nothing, stop: nothing, list: nothing }
const queues = [{ name: 'duel', matchSize: 2, deploy: { application: 'game', version: '1' } }]

/** Creates the ticket API of one process. */
const ticketApi = (limitStore: LimitStore) =>
  createTicketApi(createMatchmaker({ deployments, queues }), { authenticate, limits, limitStore })

/** Creates the lobby API of one process. It has no lobbies, because only the limits are tested. */
const lobbyApi = (limitStore: LimitStore) => {
  const get = async () => {
    throw new LobbyRefused('no-such-lobby')
  }
  return createLobbyApi({ get } as unknown as Lobbies, { authenticate, limits, limitStore })
}

describeRedis('requests to several processes', () => {
  let it: RedisUnderTest
  beforeAll(async () => {
    it = await openRedis()
  })
  afterAll(() => it.close())

  test.each([
    ['ticket API', 'tickets', ticketApi],
    ['lobby API', 'lobbies', lobbyApi],
  ])('processes share the limits of the %s per player and per address', async (_, path, open) => {
    const processes = await Promise.all(
      [1, 2].map(async () => open(createRedisLimitStore({ redis: await it.connect(), timeoutMs: 10_000 }))),
    )
    const statuses = async (count: number, id: string, address: string) => {
      const all: number[] = []
      for (let index = 0; index < count; index += 1) {
        const request = new Request(`http://game.example/${path}/unknown`, { headers: { authorization: id } })
        all.push((await processes[index % 2]?.(request, { remoteAddress: address }))?.status ?? 0)
      }
      return all
    }
    // A player is counted as one, whatever the address.
    expect(await statuses(6, 'ann', '192.0.2.1')).toEqual([404, 404, 404, 404, 429, 429])
    expect(await statuses(2, 'ann', '192.0.2.2')).toEqual([429, 429])
    // Six requests came from the first address, so one more is allowed.
    expect(await statuses(3, 'ben', '192.0.2.1')).toEqual([404, 429, 429])
    expect(await statuses(2, 'ben', '192.0.2.3')).toEqual([404, 404])
  })
})
