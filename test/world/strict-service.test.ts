/** Tests a matchmaker with a service that was written independently of the emulator. */
import { createClient } from '@muster/core'
import { createMatchmaker } from '@muster/matchmaker'
import { describe, expect, test } from 'vitest'
import { until } from '../matchmaker/studio.js'
import { startStrictService } from './strict-service.js'

test('200 players are matched although 5 % of the create answers are lost, and no server is orphaned', async () => {
  const service = await startStrictService({ token: 'secret', loseEvery: 20, readyAfterMs: 100 })
  const client = createClient({
    baseUrl: service.url,
    token: 'secret',
    settings: { createDeploymentPath: '/v2/deployments' },
  })
  const matchmaker = createMatchmaker({
    deployments: client.deployments,
    queues: [{ name: 'duel', matchSize: 2, deploy: { application: 'game', version: '1' } }],
    tickMs: 50,
    listLagMs: 500,
  })
  matchmaker.start()
  const ids = Array.from({ length: 200 }, (_, nth) => `player-${nth}`)
  for (const id of ids) matchmaker.createTicket({ id, queue: 'duel', players: [{ id, ip: '192.0.2.7' }] })
  await until('all have a server', () => ids.every((id) => matchmaker.getTicket(id)?.status === 'HOST_ASSIGNED'))

  const matches = new Set(ids.map((id) => matchmaker.getTicket(id)?.matchId))
  expect(matches.size).toBe(100)
  expect(service.running()).toHaveLength(100)
  for (const match of matches) await matchmaker.stopMatch(match ?? '')
  await until('no server is left', () => service.running().length === 0)
  expect(await matchmaker.close()).toEqual([])
  expect(service.counts).toMatchObject({ creates: 100, notDescribed: [], refused: [] })
  await client.close()
  await service.close()
})

describe('the strict service', () => {
  test.each<[what: string, body: unknown, says: string]>([
    ['no users', { application: 'game', version: '1' }, 'users is required'],
    ['a string for an object', { application: 'game', version: '1', users: ['192.0.2.7'] }, 'users is'],
    ['an unknown member', { application: 'game', version: '1', users: [], app_name: 'game' }, 'app_name is'],
    ['a tag of 41 characters', { application: 'game', version: '1', users: [], tags: ['x'.repeat(41)] }, 'tags is'],
  ])('the strict service refuses a create with %s', async (_, body, says) => {
    const service = await startStrictService({ token: 'secret', loseEvery: 20, readyAfterMs: 0 })
    const response = await fetch(`${service.url}/v2/deployments`, {
      method: 'POST',
      headers: { authorization: 'token secret' },
      body: JSON.stringify(body),
    })
    expect([response.status, await response.json()]).toEqual([422, { message: expect.stringContaining(says) }])
    expect(service.running()).toEqual([])
    await service.close()
  })
})
