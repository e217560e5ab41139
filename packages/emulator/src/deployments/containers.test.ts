import { request } from 'node:http'
import { describe, expect, test, vi } from 'vitest'
import { createEmulator } from '../emulator.js'
import { version } from '../emulator.fixture.js'
import { type Container, type ContainerSpec, type Launch, launchProcess } from './launch-process.js'
import { studio } from './studio.fixture.js'

/** Creates fake containers, which end when they are stopped. */
function fakeContainers(start: () => Promise<unknown> = () => Promise.resolve()) {
  const launched: (ContainerSpec & { readonly end: (code: number) => void; readonly stops: number[] })[] = []
  const launch: Launch = async (spec) => {
    let end = (_code: number) => {}
    const exited = new Promise<number>((resolve) => (end = resolve))
    const stops: number[] = []
    launched.push({ ...spec, end, stops })
    await start()
    return { exited, logs: () => 'its output', stop: (graceMs) => void stops.push(graceMs) } satisfies Container
  }
  return { launch, launched }
}

const first = <T>(all: readonly T[]): T => all[0] as T

test('a container starts at DEPLOYING with its variables, and is stopped at TERMINATING', async () => {
  const { launch, launched } = fakeContainers()
  const { clock, emulator, deploy, status, stop } = await studio(
    { launch, speed: 2 },
    { command: 'run', arguments: '--fast', termination_grace_period_seconds: 8 },
  )
  const id = await deploy()
  await clock.advance(499)
  expect(launched).toEqual([])
  await clock.advance(1)
  expect(first(launched)).toMatchObject({
    request_id: id,
    image: 'registry.example.com/studio/server:v1',
    command: 'run',
    arguments: '--fast',
    env: emulator.environment(id),
    ports: [{ name: 'game', internal: 20_000, external: 20_000, protocol: 'UDP' }],
  })
  await clock.advance(5000)
  expect(await status(id)).toMatchObject({ current_status: 'Status.READY', public_ip: '127.0.0.1', fqdn: 'localhost' })

  await stop(id)
  expect(first(launched).stops).toEqual([4000])
  await clock.advance(60_000)
  expect(await status(id)).toMatchObject({ current_status: 'Status.TERMINATING' })
  first(launched).end(0)
  await clock.advance(0)
  expect(await status(id)).toMatchObject({ current_status: 'Status.TERMINATED', error: false })
})

test('READY waits for a container that starts slowly', async () => {
  let started = () => {}
  const { launch } = fakeContainers(() => new Promise<void>((resolve) => (started = resolve)))
  const { clock, deploy, status } = await studio({ launch })
  const id = await deploy()
  await clock.advance(30_000)
  expect(await status(id)).toMatchObject({ current_status: 'Status.DEPLOYING' })
  started()
  await clock.advance(0)
  expect(await status(id)).toMatchObject({ current_status: 'Status.READY' })
})

test('a container that starts too late for time_to_deploy is an ERROR, and a stop ends it', async () => {
  let started = () => {}
  const { launch, launched } = fakeContainers(() => new Promise<void>((resolve) => (started = resolve)))
  const { clock, deploy, status, stop } = await studio({ launch }, { time_to_deploy: 20 })
  const id = await deploy()
  await clock.advance(20_000)
  expect(await status(id)).toMatchObject({ current_status: 'Status.ERROR', error_detail: 'time_to_deploy exceeded' })
  await stop(id)
  started()
  await clock.advance(0)
  expect(first(launched).stops).toEqual([5000])
  first(launched).end(137)
  await clock.advance(0)
  expect(await status(id)).toMatchObject({ current_status: 'Status.TERMINATED' })
})

test('a container that cannot be started is an ERROR', async () => {
  const launch = () => Promise.reject(new Error('no such image'))
  const { clock, deploy, status, stop } = await studio({ launch })
  const id = await deploy()
  await clock.advance(1000)
  expect(await status(id)).toMatchObject({
    current_status: 'Status.ERROR',
    error_detail: 'the container could not be started: no such image',
  })
  expect((await stop(id)).status).toBe(200)
  await clock.advance(1000)
  expect(await status(id)).toMatchObject({ current_status: 'Status.TERMINATED' })
})

test.each([
  ['while it starts', 2000, 'Status.DEPLOYING'],
  ['at READY', 11_000, 'Status.READY'],
] as const)('a container crash %s is an ERROR that the logs explain', async (_when, ms, before) => {
  const { launch, launched } = fakeContainers()
  const { clock, call, deploy, status, stop } = await studio({ launch })
  const id = await deploy()
  await clock.advance(ms)
  expect(await status(id)).toMatchObject({ current_status: before })
  first(launched).end(139)
  await clock.advance(0)
  expect(await status(id)).toMatchObject({
    current_status: 'Status.ERROR',
    error_detail: 'the container ended by itself with exit code 139',
  })
  expect((await call('GET', `/v1/deployment/${id}/container-logs`)).body).toEqual({
    logs: 'its output',
    encoding: 'utf-8',
    crash_logs: 'its output',
    crash_data: { exit_code: 139, message: 'the container ended by itself with exit code 139', restart_count: 0 },
    logs_link: null,
  })
  expect((await stop(id)).status).toBe(200)
  await clock.advance(0)
  expect(await status(id)).toMatchObject({ current_status: 'Status.TERMINATED' })
})

test('a container that ends by itself without an error is terminated', async () => {
  const { launch, launched } = fakeContainers()
  const { clock, deploy, status } = await studio({ launch })
  const id = await deploy()
  await clock.advance(11_000)
  first(launched).end(0)
  await clock.advance(0)
  expect(await status(id)).toMatchObject({ current_status: 'Status.TERMINATED', error: false })
})

test('a deployment without its own container stays simulated', async () => {
  const { clock, deploy, status, stop } = await studio({ launch: () => undefined })
  const id = await deploy()
  await clock.advance(11_000)
  expect(await status(id)).toMatchObject({ current_status: 'Status.READY' })
  await stop(id)
  await clock.advance(1000)
  expect(await status(id)).toMatchObject({ current_status: 'Status.TERMINATED' })
})

test('closing the emulator ends all containers and waits for them, including those being started', async () => {
  let started = () => {}
  const { launch, launched } = fakeContainers(() => new Promise<void>((resolve) => (started = resolve)))
  const { clock, deploy, emulator } = await studio({ launch })
  await deploy()
  await clock.advance(5000)
  started()
  await clock.advance(0)
  await deploy()
  await clock.advance(5000)
  expect(launched).toHaveLength(2)

  const closed = vi.fn<() => void>()
  const closing = emulator.close().then(closed)
  await clock.advance(0)
  expect(launched.map(({ stops }) => stops)).toEqual([[5000], []])
  started()
  await clock.advance(0)
  expect(launched.map(({ stops }) => stops)).toEqual([[5000], [5000]])
  first(launched).end(0)
  await clock.advance(0)
  expect(closed).not.toHaveBeenCalled()
  launched[1]?.end(0)
  await closing
})

describe('containers as real processes', () => {
  /** A server that responds with its variables on its assigned port, and stops itself on request. */
  const server = `
    const env = process.env
    require('node:http').createServer(async (request, response) => {
      const headers = { authorization: env.SERVICE_DELETE_TOKEN }
      if (request.url === '/stop') await fetch(env.SERVICE_DELETE_URL, { method: 'DELETE', headers })
      response.end(env.SERVICE_REQUEST_ID)
    }).listen(Number(env.SERVICE_PORT_GAME_INTERNAL), '127.0.0.1', () => console.log('listening'))`

  const get = (port: number, path: string) =>
    new Promise<string>((resolve, reject) => {
      request({ host: '127.0.0.1', port, path }, (response) => {
        response.setEncoding('utf8').once('data', resolve)
      })
        .once('error', reject)
        .end()
    })

  test('container processes are reached at the external port of their deployment, and can self-stop', async () => {
    const emulator = createEmulator({
      token: 'dev',
      launch: launchProcess(process.execPath, ['-e', server]),
      speed: 100,
    })
    const { url } = await emulator.listen({ port: 0 })
    const call = async <T>(method: string, path: string, body?: object) => {
      const response = await fetch(url + path, {
        method,
        headers: { authorization: 'token dev' },
        ...(body && { body: JSON.stringify(body) }),
      })
      return (await response.json()) as T
    }
    try {
      await call('POST', '/v1/app', { name: 'arena' })
      await call('POST', '/v1/app/arena/version', {
        ...version,
        ports: [{ port: 7777, protocol: 'TCP', name: 'game' }],
      })
      const users = [{ user_type: 'ip_address', user_data: { ip_address: '192.0.2.1' } }]
      const { request_id: id } = await call<{ request_id: string }>('POST', '/deployments', {
        application: 'arena',
        version: '1.0',
        users,
      })
      await expect.poll(() => call('GET', `/v1/deployment/${id}/container-logs`)).toMatchObject({ logs: 'listening\n' })
      await expect.poll(() => call('GET', `/v1/status/${id}`)).toMatchObject({ current_status: 'Status.READY' })
      const { ports } = await call<{ ports: { game: { external: number } } }>('GET', `/v1/status/${id}`)
      expect(await get(ports.game.external, '/')).toBe(id)
      await get(ports.game.external, '/stop').catch(() => {})
      await expect.poll(() => call('GET', `/v1/status/${id}`)).toMatchObject({ current_status: 'Status.TERMINATED' })
    } finally {
      await emulator.close()
    }
  })
})
