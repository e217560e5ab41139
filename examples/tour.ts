/**
 * Uses every resource group of the service on an emulator. The groups are applications, versions, registry, log
 * storage, pull profiles, locations, deployments, tags, fleets, policies, the legacy deploy and relays.
 */
import assert from 'node:assert/strict'
import { createClient, NotFound, RouteMissing } from '@muster/core'
import { systemClock } from '@muster/core/clock'
import { createEmulator } from '@muster/emulator'

const emulator = createEmulator({
  speed: 20,
  images: [
    { image: 'studio/server', tag: '1.0' },
    { image: 'studio/server', tag: '0.9' },
  ],
})
const { url } = await emulator.listen()
const client = createClient({ baseUrl: url, token: 'dev' })

console.log('applications and versions')
await client.applications.create({ name: 'my-game', is_active: true })
await client.versions.create({
  app_name: 'my-game',
  name: '1.0',
  docker_repository: 'registry.emulator.invalid',
  docker_image: 'studio/server',
  docker_tag: '1.0',
  verify_image: true,
  req_cpu: 1024,
  req_memory: 2048,
  ports: [{ name: 'game', port: 7777, protocol: 'UDP' }],
  termination_grace_period_seconds: 5,
})
const { versions } = await client.versions.list({ app_name: 'my-game' })
assert.deepEqual(
  versions.map(({ name }) => name),
  ['1.0'],
)

console.log('container registry')
const { data: tags } = await client.registry.listTags({ image_name: 'studio/server' })
assert.equal(tags.length, 2)
await client.registry.deleteTag({ image_name: 'studio/server', tag_name: '0.9' })

console.log('log storage and pull profiles')
await client.storages.create({
  name: 'logs',
  access_key_id: 'key',
  secret_access_key: 'never shown again',
  endpoint: 'https://storage.example.com',
  bucket: 'game-logs',
})
await client.pullProfiles.create({
  endpoint_name: 'logs',
  name: 'maps',
  source: 'maps/',
  source_type: 'Folder',
  destination: '/home/game/maps',
})
await client.pullProfiles.link({
  endpoint_name: 'logs',
  pull_profile_name: 'maps',
  app_name: 'my-game',
  version_name: '1.0',
})
await client.versions.update({ app_name: 'my-game', version_name: '1.0', endpoint_storage: 'logs' })

console.log('locations and beacons')
const { locations } = await client.locations.list({ app: 'my-game', version: '1.0', limit: 100 })
const { locations: beacons } = await client.locations.beacons({ limit: 100 })
assert.ok(locations.length > 40 && beacons.length > 40)

console.log('a deployment, its tags, metrics and logs')
const { request_id } = await client.deployments.create({
  application: 'my-game',
  version: '1.0',
  users: [{ user_type: 'geo_coordinates', user_data: { latitude: 48.86, longitude: 2.35 } }],
  tags: ['tour'],
})
const deployment = await client.deployments.waitUntilReady(request_id)
assert.equal(deployment.location?.city, 'Paris')
console.log(`  READY in ${deployment.location?.city}: ${deployment.ports?.['game']?.link}`)
await client.tags.create({ request_id, name: 'second' })
const { tags: both } = await client.tags.list({ request_id })
assert.deepEqual(both.map(({ name }) => name).toSorted(), ['second', 'tour'])
const metrics = await client.deployments.metrics({ request_id, steps: '30s' })
assert.ok(metrics.cpu)
const { logs } = await client.deployments.logs({ request_id })
assert.ok(logs)
const tagged = []
for await (const entry of client.deployments.list.all({
  query: { filters: [{ field: 'tags', operator: 'in', value: ['tour'] }] },
})) {
  tagged.push(entry.request_id)
}
assert.deepEqual(tagged, [request_id])
await client.deployments.stop({ request_id, container_log_storage: true })

console.log('a fleet that keeps two servers in Tokyo')
/** The servers that the fleet has deployed; none on a service that no longer has fleets. */
const warm = await keepTwoServersInTokyo().catch((error: unknown) => {
  if (error instanceof RouteMissing) return []
  throw error
})
if (warm.length === 0) console.log('  there are no fleets here')
else
  await client.deployments.bulkStop({
    filters: [{ field: 'request_id', values: warm.map((one) => one.request_id), filter_type: 'any' }],
  })

console.log('the legacy way to deploy')
const legacy = await client.deployments.deployLegacy({
  app_name: 'my-game',
  version_name: '1.0',
  ip_list: ['203.0.113.7'],
})
await client.deployments.stop({ request_id: legacy.request_id })

console.log('a relay session')
const session = await client.relays.create({ users: [{ ip: '203.0.113.7' }, { ip: '203.0.113.8' }] })
let open = session
while (!open.ready) {
  await systemClock.sleep(50)
  open = await client.relays.get({ session_id: session.session_id })
}
assert.equal(open.session_users?.length, 2)
await client.relays.authorizeUser({ session_id: session.session_id, user_ip: '203.0.113.9' })
await client.relays.delete({ session_id: session.session_id })

console.log('and everything is deleted again')
await client.applications.delete({ app_name: 'my-game' })
await assert.rejects(client.applications.get({ app_name: 'my-game' }), NotFound)
await client.close()
await emulator.close()

async function keepTwoServersInTokyo() {
  await client.fleets.create({ name: 'warm' })
  await client.policies.create({
    fleet_name: 'warm',
    name: 'tokyo',
    type: 'Location',
    minimum: 2,
    maximum: 4,
    data: { filters: [{ field: 'city', values: ['Tokyo'], filter_type: 'any' }] },
  })
  await client.fleets.link({ fleet_name: 'warm', app_name: 'my-game', version_name: '1.0' })
  await client.fleets.update({ fleet_name: 'warm', enabled: true })
  /**
   * Returns the servers that the fleet has deployed so far. The service does not mark them, but no other server runs
   * here.
   */
  const listed = async () =>
    (await client.deployments.list({ query: { order_by: [{ field: 'created_at', order: 'desc' }] } })).data
  let made = await listed()
  while (made.length < 2) {
    await systemClock.sleep(50)
    made = await listed()
  }
  await client.fleets.delete({ fleet_name: 'warm' })
  return made
}
