import { beforeAll, describe, expect, test } from 'vitest'
import { createManualClock } from '../time.js'
import type { Client } from './client-types.js'
import { loadDescription } from './call.js'
import { InvalidInput } from './errors.js'
import { inProcess } from './transport.js'
import { everything, expectHidden, watched, failure } from './secrets.fixture.js'

beforeAll(loadDescription)

describe('the error of wrong input names its field and shows no secret', () => {
  test.each<[field: string, (client: Client) => Promise<unknown>]>([
    [
      'users.0.user_data.ip_address',
      (client) => {
        const users = [{ user_type: 'ip_address', user_data: { ip_address: 'opensesame' } }] as const
        return client.deployments.create({ application: 'game', version: '1', users })
      },
    ],
    [
      'environment_variables.0.value',
      (client) =>
        client.deployments.create({
          application: 'game',
          version: '1',
          users: [{ user_type: 'geo_coordinates', user_data: { latitude: 1, longitude: 2 } }],
          environment_variables: [{ key: 'KEY', value: 'opensesame'.repeat(500), is_hidden: false }],
        }),
    ],
    [
      'ip_list.1',
      (client) => client.deployments.deployLegacy({ app_name: 'game', ip_list: ['203.0.113.9', 'opensesame'] }),
    ],
    ['user_ip', (client) => client.relays.authorizeUser({ session_id: 'abc', user_ip: 'opensesame' })],
    [
      'secret_access_key',
      (client) => client.storages.update({ endpoint_name: 's', secret_access_key: ['opensesame'] } as never),
    ],
    [
      'private_token',
      (client) =>
        client.versions.update({ app_name: 'game', version_name: '1', private_token: { opensesame: 1 } } as never),
    ],
    [
      'webhook_on_ready.url',
      (client) =>
        client.deployments.create({
          application: 'game',
          version: '1',
          users: [{ user_type: 'geo_coordinates', user_data: { latitude: 1, longitude: 2 } }],
          webhook_on_ready: { url: 'ftp://opensesame' },
        }),
    ],
    [
      'authorization',
      (client) =>
        client.deployments.selfStop({ request_id: 'abc', access_point_id: 'def', authorization: 'opensesame\r\nx: y' }),
    ],
    ['name', (client) => client.tags.create({ request_id: 'abc', name: `of 203.0.113.9 ${'n'.repeat(40)}` })],
  ])('%s', async (field, call) => {
    const clock = createManualClock()
    const { client, events } = watched({ clock, dispatcher: inProcess(() => Promise.reject(new Error('was sent'))) })
    const error = await failure(clock, call(client))
    expect(error).toBeInstanceOf(InvalidInput)
    expect(error).toMatchObject({ field, message: expect.stringContaining(field) })
    expectHidden('opensesame', everything(error))
    expectHidden('203.0.113.9', everything(error))
    expect(events).toEqual([])
  })
})
