import { describe, expect, test } from 'vitest'
import { studio } from './studio.fixture.js'

test('a container gets its id, ports, tags and location as variables, besides those of the deployment', async () => {
  const ports = [
    { port: 7777, protocol: 'UDP', name: 'game' },
    { port: 80, protocol: 'WS', name: 'web-socket 2' },
  ]
  const envs = [
    { key: 'MODE', value: 'from version' },
    { key: 'LEVEL', value: 'from version', is_secret: true },
    { key: 'SERVICE_REQUEST_ID', value: 'mine' },
  ]
  const { emulator, deploy } = await studio({}, { ports, envs })
  const environment_variables = [
    { key: 'LEVEL', value: 'from deployment', is_hidden: true },
    { key: '__proto__', value: 'odd', is_hidden: false },
  ]
  const id = await deploy({ environment_variables, tags: ['a', 'b'] })
  const { SERVICE_DELETE_URL: url, SERVICE_DELETE_TOKEN: token, ...rest } = emulator.environment(id) ?? {}
  expect(url).toMatch(new RegExp(`^http://emulator.invalid/v1/self/stop/${id}/\\d+$`))
  expect(token).toMatch(/^[0-9a-f]{32}$/)
  const game = { name: 'game', internal: 7777, external: 30_000, protocol: 'UDP' }
  const web = { name: 'web-socket 2', internal: 80, external: 30_001, protocol: 'WS' }
  expect(Object.entries(rest).toSorted()).toEqual(
    Object.entries({
      MODE: 'from version',
      LEVEL: 'from deployment',
      ['__proto__']: 'odd',
      SERVICE_REQUEST_ID: id,
      SERVICE_DEPLOYMENT_TAGS: 'a,b',
      SERVICE_PUBLIC_IP: expect.stringMatching(/^198\.51\.100\./),
      SERVICE_DEPLOYMENT_LOCATION: expect.stringContaining('"city":"Copenhagen"'),
      SERVICE_PORTS_MAPPING: JSON.stringify({ ports: { game, 'web-socket 2': web } }),
      SERVICE_PORT_GAME_INTERNAL: '7777',
      SERVICE_PORT_GAME_EXTERNAL: '30000',
      SERVICE_PORT_GAME_PROTOCOL: 'UDP',
      SERVICE_PORT_WEB_SOCKET_2_INTERNAL: '80',
      SERVICE_PORT_WEB_SOCKET_2_EXTERNAL: '30001',
      SERVICE_PORT_WEB_SOCKET_2_PROTOCOL: 'WS',
    }).toSorted(),
  )
  expect(emulator.environment('none')).toBeUndefined()
})

test('no API answer contains the environment of a container', async () => {
  const { clock, call, emulator, deploy } = await studio(
    {},
    { envs: [{ key: 'K', value: 'version-secret', is_secret: true }] },
  )
  const id = await deploy({ environment_variables: [{ key: 'H', value: 'hidden-secret', is_hidden: true }] })
  await clock.advance(11_000)
  const token = emulator.environment(id)?.['SERVICE_DELETE_TOKEN'] as string
  const targets = [
    `/v1/status/${id}`,
    '/v1/deployments',
    `/v1/deployment/${id}/container-logs`,
    `/v1/metrics/deployment/${id}`,
    `/v1/deployments/${id}/tags`,
  ]
  for (const target of targets) {
    const answer = await call('GET', target)
    expect(answer.status).toBe(200)
    expect(JSON.stringify(answer.body)).not.toMatch(new RegExp(`version-secret|hidden-secret|${token}`))
  }
  expect(JSON.stringify(emulator.inspect())).not.toMatch(new RegExp(`version-secret|hidden-secret|${token}`))
})

describe('the self-stop of a container', () => {
  const selfStop = async () => {
    const made = await studio()
    const [id, other] = [await made.deploy(), await made.deploy()]
    const target = (of: string) => new URL(made.emulator.environment(of)?.['SERVICE_DELETE_URL'] as string).pathname
    const token = (of: string) => made.emulator.environment(of)?.['SERVICE_DELETE_TOKEN'] as string
    const send = (path: string, authorization: string) => made.call('DELETE', path, undefined, { authorization })
    return { ...made, id, other, target, token, send }
  }

  test('a container can stop itself with the injected URL and token', async () => {
    const { clock, id, send, status, target, token } = await selfStop()
    expect((await send(target(id), token(id))).status).toBe(202)
    await clock.advance(11_000)
    expect(await status(id)).toMatchObject({ current_status: 'Status.TERMINATING' })
    await clock.advance(1000)
    expect(await send(target(id), token(id))).toMatchObject({
      status: 410,
      body: { message: 'Instance Already terminated' },
    })
  })

  test('the self-stop of a container is answered with 200 at READY', async () => {
    const { clock, id, send, target, token } = await selfStop()
    await clock.advance(11_000)
    expect(await send(target(id), token(id))).toMatchObject({
      status: 200,
      body: { deployment_summary: { request_id: id } },
    })
  })

  test('the self-stop of a container is refused with any other token', async () => {
    const { id, other, send, status, target, token } = await selfStop()
    expect((await send(target(id), '')).status).toBe(401)
    expect((await send(target(id), token(other))).status).toBe(403)
    expect((await send(target(id), 'token dev')).status).toBe(403)
    expect((await send(`${target(id)}0`, token(id))).status).toBe(404)
    expect((await send('/v1/self/stop/none/1', token(id))).status).toBe(404)
    expect((await status(id))['current_status']).toBe('Status.INITIALIZING')
  })

  test('the delete token of a container is accepted by self-stop only', async () => {
    const { id, send, token } = await selfStop()
    expect((await send(`/v1/stop/${id}`, `token ${token(id)}`)).status).toBe(401)
  })
})
