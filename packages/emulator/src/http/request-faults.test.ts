import { once } from 'node:events'
import { Agent, type IncomingMessage, request as httpRequest } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { started, version } from '../emulator.fixture.js'
import type { Fault } from '../faults.js'
import { ConnectionDropped } from '../reply.js'

const create = ['POST', '/v1/app', { name: 'arena' }] as const

const withFault = (fault: Omit<Fault, 'operation'>) =>
  started({ faults: [{ operation: 'applications.create', ...fault }] })

describe('request faults through fetch', () => {
  test('a request fault can answer with an error status without carrying out the request', async () => {
    const { call, emulator } = withFault({ status: 503, message: 'down', retryAfterMs: 1500, count: 1 })
    const answer = await call(...create)
    expect(answer).toMatchObject({ status: 503, body: { message: 'down' } })
    expect(answer.headers.get('retry-after')).toBe('2')
    expect(emulator.inspect().applications).toEqual([])
    expect((await call(...create)).status).toBe(200)
    expect(emulator.counters.requests['applications.create']).toEqual({ 200: 1, 503: 1 })
  })

  test('a request fault can carry out a request and then answer with an error status', async () => {
    const { call, emulator } = withFault({ status: 504, effect: true })
    expect((await call(...create)).status).toBe(504)
    expect(emulator.inspect().applications).toHaveLength(1)
  })

  test('a request fault can lose a request without effect, or the answer after the effect', async () => {
    const { call, emulator } = started({
      faults: [
        { operation: 'applications.create', nth: [1], drop: 'before' },
        { operation: 'applications.create', nth: [2], drop: 'after' },
      ],
    })
    await expect(call(...create)).rejects.toThrow(ConnectionDropped)
    expect(emulator.inspect().applications).toEqual([])
    await expect(call(...create)).rejects.toThrow(ConnectionDropped)
    expect(emulator.inspect().applications).toHaveLength(1)
    expect((await call(...create)).status).toBe(409)
    expect(emulator.counters).toMatchObject({ dropped: 2, requests: { 'applications.create': { 409: 1 } } })
  })

  test.each([
    ['malformed', 'application/json'],
    ['empty', 'application/json'],
    ['html', 'text/html; charset=utf-8'],
  ] as const)('a request fault can carry out the request and then answer with a %s body', async (body, type) => {
    const { emulator } = withFault({ body })
    const response = await emulator.fetch(
      new Request('http://emulator.invalid/v1/app', {
        method: 'POST',
        headers: { authorization: 'token dev' },
        body: '{"name":"arena"}',
      }),
    )
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe(type)
    await expect(response.json()).rejects.toThrow(SyntaxError)
    expect(emulator.inspect().applications).toHaveLength(1)
  })

  test('a request fault can truncate a body, whose stream then ends with an error', async () => {
    const { call } = withFault({ body: 'truncated' })
    await expect(call(...create)).rejects.toThrow(ConnectionDropped)
  })

  test('a body fault leaves an answer without a body unchanged', async () => {
    const { call } = started({ faults: [{ operation: 'applications.delete', body: 'malformed' }] })
    await call(...create)
    expect(await call('DELETE', '/v1/app/arena')).toMatchObject({ status: 204, body: undefined })
  })

  test('a request fault can delay an answer by the clock', async () => {
    const { call, clock } = withFault({ delayMs: 5000 })
    const answer = call(...create)
    let arrived = false
    void answer.then(() => (arrived = true))
    await clock.advance(4999)
    expect(arrived).toBe(false)
    await clock.advance(1)
    expect((await answer).status).toBe(200)
  })

  test('request faults can be added and removed while the emulator runs', async () => {
    const { call, emulator } = started()
    emulator.faults.add({ operation: '*', status: 500 })
    expect((await call('GET', '/v1/apps')).status).toBe(500)
    emulator.faults.clear()
    expect((await call('GET', '/v1/apps')).status).toBe(200)
  })

  test('the faults of a deployment are chosen when it is created', async () => {
    const { call } = started({ faults: [{ operation: 'deployments.create', nth: [2], deployment: 'no capacity' }] })
    await call(...create)
    await call('POST', '/v1/app/arena/version', version)
    const users = [{ user_type: 'geo_coordinates', user_data: { latitude: 48.9, longitude: 2.4 } }]
    const deploy = () => call('POST', '/deployments', { application: 'arena', version: '1.0', users })
    expect((await deploy()).status).toBe(202)
    expect(await deploy()).toMatchObject({
      status: 422,
      body: { request_id: expect.any(String), message: expect.any(String) },
    })
  })
})

describe('request faults over HTTP', () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  afterEach(() => agent.destroy())

  async function post(
    url: string,
  ): Promise<{ readonly status: number | undefined; readonly length: string | undefined; readonly body: string }> {
    const request = httpRequest(`${url}/v1/app`, { method: 'POST', agent, headers: { authorization: 'token dev' } })
    request.end('{"name":"arena"}')
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    let body = ''
    for await (const chunk of response) body += String(chunk)
    return { status: response.statusCode, length: response.headers['content-length'], body }
  }

  test.each(['before', 'after'] as const)(
    'a request fault over HTTP can end the connection %s the request is carried out',
    async (drop) => {
      const { emulator } = withFault({ drop, count: 1 })
      const { url } = await emulator.listen()
      await expect(post(url)).rejects.toThrow('socket hang up')
      expect(emulator.inspect().applications).toHaveLength(drop === 'before' ? 0 : 1)
      expect((await post(url)).status).toBe(drop === 'before' ? 200 : 409)
      await emulator.close()
    },
  )

  test('a request fault over HTTP can truncate a body before its announced length', async () => {
    const { emulator } = withFault({ body: 'truncated' })
    const { url } = await emulator.listen()
    await expect(post(url)).rejects.toThrow('aborted')
    expect(emulator.inspect().applications).toHaveLength(1)
    await emulator.close()
  })

  test('a request fault over HTTP can empty a body, with length 0 and an open connection', async () => {
    const { emulator } = withFault({ body: 'empty' })
    const { url } = await emulator.listen()
    expect(await post(url)).toEqual({ status: 200, length: '0', body: '' })
    expect(await post(url)).toEqual({ status: 409, length: '0', body: '' })
    await emulator.close()
  })
})
