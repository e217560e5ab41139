import { beforeAll, describe, expect, test } from 'vitest'
import { createManualClock } from '../time.js'
import type { Client } from './client-types.js'
import { loadDescription } from './call.js'
import { InvalidInput } from './errors.js'
import { inProcess } from './transport.js'
import { everything, expectHidden, watched, failure } from './secrets.fixture.js'

beforeAll(loadDescription)

describe('the error of wrong input that contains secrets', () => {
  test.each<[field: string, (client: Client) => Promise<unknown>]>([
    [
      'ip_list.1',
      (client) => client.deployments.deployLegacy({ app_name: 'game', ip_list: ['203.0.113.9', 'opensesame'] }),
    ],
    [
      'authorization',
      (client) =>
        client.deployments.selfStop({ request_id: 'abc', access_point_id: 'def', authorization: 'opensesame\r\nx: y' }),
    ],
  ])('the error of wrong input names its field and shows no secret: %s', async (field, call) => {
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
