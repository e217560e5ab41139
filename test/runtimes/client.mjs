/**
 * Tests the client over HTTP in any runtime: `<runtime> client.mjs <address of an emulator>`. Throws at the first
 * difference from Node. It must end by itself, so that an open connection or timer is noticed.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { createClient } from '@muster/core'

const baseUrl = process.argv[2]
const options = { baseUrl, token: 'dev' }
const client = createClient(options)
const place = [{ user_type: 'geo_coordinates', user_data: { latitude: 48.86, longitude: 2.35 } }]
const failure = (call) =>
  call.then(
    () => assert.fail('the call succeeded'),
    (error) => error,
  )

/** Creates, follows, lists and stops a deployment. */
async function deploys(name) {
  await client.applications.create({ name })
  await client.versions.create({
    app_name: name,
    name: '1.0',
    docker_repository: 'registry.emulator.invalid',
    docker_image: 'studio/server',
    docker_tag: '1.0',
    req_cpu: 1024,
    req_memory: 2048,
    ports: [{ name: 'game', port: 7777, protocol: 'UDP' }],
  })
  const { request_id } = await client.deployments.create({
    application: name,
    version: '1.0',
    users: place,
    tags: [name],
  })
  const ready = await client.deployments.waitUntilReady(request_id)
  assert.equal(ready.location?.city, 'Paris')
  assert.ok(Object.isFrozen(ready) && Object.isFrozen(ready.ports))
  const query = { filters: [{ field: 'tags', operator: 'in', value: [name] }] }
  const found = []
  for await (const entry of client.deployments.list.all({ query })) found.push(entry.request_id)
  assert.deepEqual(found, [request_id])
  await client.deployments.stop({ request_id })
  const again = await client.deployments.stop({ request_id }).catch((error) => error)
  assert.ok(again.message !== undefined && !String(again.message).includes('dev'))
}

/** Sends 50 reads against a limit of 20 per second. All must be answered, and none refused. */
async function keepsTheLimit(name) {
  let refused = 0
  client.events.on('throttled', () => (refused += 1))
  const { request_id } = await client.deployments.create({ application: name, version: '1.0', users: place })
  // Each read has its own priority, because equal reads would share one request.
  const reads = Array.from({ length: 50 }, (_, priority) => client.deployments.get({ request_id }, { priority }))
  assert.equal((await Promise.all(reads)).length, 50)
  assert.equal(refused, 0)
  await client.deployments.stop({ request_id })
}

async function fails() {
  const unknown = await failure(client.applications.get({ app_name: 'nobody' }))
  assert.equal(unknown.name, 'NotFound')
  assert.equal(unknown.operation, 'applications.get')
  const wrong = await failure(client.applications.create({ nam: 'x' }))
  assert.match(wrong.message, /nam: is not known; did you mean name\?/)
  const stranger = createClient({ ...options, token: 'wrong' })
  assert.equal((await failure(stranger.applications.list())).name, 'Unauthorized')
  await stranger.close()
}

/** Calls a server that never answers, and an address without a listener. */
async function isLeft() {
  const server = createServer((socket) => void socket.on('error', () => {}).on('data', () => server.emit('received')))
  const received = () => once(server, 'received')
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${server.address().port}`
  const silent = createClient({ ...options, baseUrl: address })
  const late = await failure(silent.applications.list({}, { timeoutMs: 2000 }))
  assert.deepEqual([late.name, late.sent], ['TimedOut', true])
  const controller = new AbortController()
  const aborted = failure(silent.applications.list({}, { signal: controller.signal }))
  await received()
  controller.abort(new Error('enough'))
  assert.equal((await aborted).message, 'enough')
  const pending = failure(silent.applications.create({ name: 'pending' }))
  await received()
  await silent.close({ timeoutMs: 50 })
  assert.deepEqual([(await pending).name, (await pending).sent], ['ClientClosed', true])
  await new Promise((resolve) => server.close(resolve))
  const nobody = createClient({ ...options, baseUrl: address, retry: { attempts: 1 } })
  const refused = await failure(nobody.applications.create({ name: 'nobody' }))
  assert.deepEqual([refused.name, refused.sent], ['ConnectionLost', false])
  await nobody.close()
}

const name = `runtime-${process.argv[3]}`
await deploys(name)
await keepsTheLimit(name)
await fails()
await isLeft()
await client.close()
process.stdout.write(`${process.argv[3]}: as on Node\n`)
