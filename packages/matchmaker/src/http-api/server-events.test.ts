import { seededRandom } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { Unavailable } from '../errors.js'
import { open, world } from '../listed-servers.fixture.js'
import { createTicketApi } from './ticket-api.js'

test('a GET /servers/events that fails at its first read of the list does not count as open', async () => {
  const { listed, matchmaker, clock } = open({ pools: [world] })
  await listed()
  let isAway = false
  const service = {
    ...matchmaker,
    listedServers: (...known: Parameters<typeof matchmaker.listedServers>) => {
      if (isAway) throw new Unavailable('no leader')
      return matchmaker.listedServers(...known)
    },
  }
  const api = createTicketApi(service, { authenticate: () => ({ id: 'ann' }), clock, random: seededRandom(1) })
  const response = await api(new Request('http://localhost/servers/events'), { remoteAddress: '198.51.100.7' })
  expect([response.status, api.counts().waiting]).toEqual([200, 1])
  isAway = true
  await clock.advance(2000)
  await expect(response.text()).rejects.toThrow('no leader')
  expect(api.counts().waiting).toBe(0)
})
