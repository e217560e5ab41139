/**
 * Tests of your own backend, without a network and without waiting. The emulator and the client share a clock that the
 * test advances. This file is a test for node:test, and can be run directly.
 */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { createClient, DeploymentFailed, inProcess, type Client } from '@muster/core'
import { createManualClock, type ManualClock } from '@muster/core/clock'
import { createEmulator, type Emulator, type EmulatorOptions } from '@muster/emulator'

/**
 * Your backend. It returns the address of a server for a private match, or an apology. A failed server costs money
 * until it is stopped.
 */
async function hostPrivateMatch(client: Client, hostIp: string): Promise<string> {
  const users = [{ user_type: 'ip_address', user_data: { ip_address: hostIp } }] as const
  const { request_id } = await client.deployments.create({
    application: 'my-game',
    version: '1.0',
    users,
    tags: ['private'],
  })
  try {
    const { ports } = await client.deployments.waitUntilReady(request_id, { timeoutMs: 120_000 })
    return `Your server: ${ports?.['game']?.link}`
  } catch (error) {
    await client.deployments.stop({ request_id })
    return error instanceof DeploymentFailed
      ? 'Your server did not start, please try again.'
      : 'Your server takes too long, please try again.'
  }
}

let clock: ManualClock
let emulator: Emulator
let client: Client

async function start(options: EmulatorOptions = {}) {
  emulator = createEmulator({ clock, ...options })
  client = createClient({
    baseUrl: 'http://service.invalid',
    token: 'dev',
    clock,
    dispatcher: inProcess(emulator.fetch),
  })
  await clock.until(client.applications.create({ name: 'my-game' }))
  const image = { docker_repository: 'registry.example.com', docker_image: 'studio/server', docker_tag: '1.0' }
  const ports = [{ name: 'game', port: 7777, protocol: 'UDP' }]
  const version = {
    app_name: 'my-game',
    name: '1.0',
    ...image,
    req_cpu: 512,
    req_memory: 1024,
    ports,
    max_duration: 60,
  }
  await clock.until(client.versions.create(version))
}

const runningNow = () =>
  emulator.inspect().deployments.filter((one) => one.current_status !== 'Status.TERMINATED').length

beforeEach(() => {
  clock = createManualClock()
})

afterEach(async () => {
  await emulator.close()
})

test('the host learns where to connect', async () => {
  await start()
  const answer = await clock.until(hostPrivateMatch(client, '203.0.113.7'))
  assert.match(answer, /^Your server: .+:\d+$/)
})

test('a server that fails is not left behind', async () => {
  await start({ faults: [{ operation: 'deployments.create', nth: [1], deployment: 'error' }] })
  const answer = await clock.until(hostPrivateMatch(client, '203.0.113.7'))
  assert.equal(answer, 'Your server did not start, please try again.')
  await clock.advance(60_000)
  assert.equal(runningNow(), 0)
})

test('nor is one that never starts', async () => {
  await start({ faults: [{ operation: 'deployments.create', nth: [1], deployment: 'stay deploying' }] })
  const answer = await clock.until(hostPrivateMatch(client, '203.0.113.7'))
  assert.match(answer, /please try again/)
  await clock.advance(20 * 60_000)
  assert.equal(runningNow(), 0)
})

test('after an hour, the service ends the match', async () => {
  await start()
  await clock.until(hostPrivateMatch(client, '203.0.113.7'))
  await clock.advance(59 * 60_000)
  assert.equal(runningNow(), 1)
  await clock.advance(2 * 60_000)
  assert.equal(runningNow(), 0)
})
