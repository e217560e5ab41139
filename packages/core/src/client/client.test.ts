import { describe, expect, test } from 'vitest'
import { answer, deployment, serve } from './server.fixture.js'
import { createClient } from './client.js'

describe('client', () => {
  test('sends what the description says and returns the body', async () => {
    const server = await serve((_, response) => answer(response, 200, { ...deployment('abc'), extra: [1] }))
    const client = createClient({ baseUrl: server.url, token: 'tok' })
    expect(await client.deployments.get({ request_id: 'abc' })).toEqual({ ...deployment('abc'), extra: [1] })
    expect(server.requests).toMatchObject([
      { method: 'GET', url: '/v1/status/abc', body: '', headers: { authorization: 'token tok', accept: 'application/json' } },
    ])
    await client.close()
  })
})
