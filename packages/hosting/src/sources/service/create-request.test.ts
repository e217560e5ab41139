import { api } from '@muster/core/api'
import { expect, test } from 'vitest'
import { deploySchema } from '../../records/deploy.js'
import type { CreateServerRequest } from '../source.js'
import { deploymentRequest } from './create-request.js'

const order: CreateServerRequest = {
  id: 'm1',
  deploy: deploySchema.parse({ application: 'game', version: '1', tags: ['eu'] }),
  environment: [{ key: 'MODE', value: 'ranked', is_hidden: false }],
  token: 'hush',
  at: undefined,
  players: [
    { id: 'ann', ip: '192.0.2.1' },
    { id: 'ben', ip: '192.0.2.2', coordinates: { latitude: 1, longitude: 2 } },
    { id: 'cas', coordinates: { latitude: 3, longitude: 4 } },
  ],
  cachedOnly: true,
}
const requestFor = (changes: Partial<CreateServerRequest>, webhook?: string) =>
  deploymentRequest({ ...order, ...changes }, { tag: 'mm-muster', webhook })

test('a create request asks for a server near the players, with the tags to find it', () => {
  const request = requestFor({})
  expect(request).toMatchObject({
    application: 'game',
    version: '1',
    users: [
      { user_type: 'ip_address', user_data: { ip_address: '192.0.2.1' } },
      { user_type: 'geo_coordinates', user_data: { latitude: 1, longitude: 2 } },
      { user_type: 'geo_coordinates', user_data: { latitude: 3, longitude: 4 } },
    ],
    tags: ['mm-muster', 'match-m1', 'eu'],
    require_cached_locations: true,
  })
  expect(request.environment_variables).toEqual(order.environment)
  expect(request).not.toHaveProperty('webhook_on_ready')
  expect(api.deployments.create.input.safeParse(request).success).toBe(true)
})

test('a create request for a given place has the coordinates of that place', () => {
  const request = requestFor({ cachedOnly: false, at: { latitude: 50, longitude: 8 } })
  expect(request.users).toEqual([{ user_type: 'geo_coordinates', user_data: { latitude: 50, longitude: 8 } }])
  expect(request).not.toHaveProperty('require_cached_locations')
})

test('a create request registers all three webhooks', () => {
  const request = requestFor({}, 'https://example.com/hooks/m1/hush')
  const webhook = { url: 'https://example.com/hooks/m1/hush' }
  expect(request).toMatchObject({
    webhook_on_ready: webhook,
    webhook_on_error: webhook,
    webhook_on_terminated: webhook,
  })
  expect(api.deployments.create.input.safeParse(request).success).toBe(true)
})
