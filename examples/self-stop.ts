/**
 * A game server that stops itself. The emulator runs deployments as local processes: this file is started again, with
 * the variables that the service injects into a container.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { createClient, selfStop } from '@muster/core'
import { systemClock } from '@muster/core/clock'
import { createEmulator, launchProcess } from '@muster/emulator'

/** The whole game server: plays for a moment, then stops its own deployment. It has no API token. */
async function gameServer() {
  console.log('the match is on')
  await systemClock.sleep(2000)
  console.log('the match is over')
  await selfStop()
}

async function backend() {
  const launch = launchProcess(process.execPath, [fileURLToPath(import.meta.url), '--game-server'])
  // The token is random, because everybody who knows it can start processes on this machine.
  const token = randomUUID()
  const emulator = createEmulator({ speed: 20, token, launch })
  const { url } = await emulator.listen()
  const client = createClient({ baseUrl: url, token })
  await client.applications.create({ name: 'my-game' })
  await client.versions.create({
    app_name: 'my-game',
    name: '1.0',
    docker_repository: 'registry.example.com',
    docker_image: 'studio/server',
    docker_tag: '1.0',
    req_cpu: 512,
    req_memory: 1024,
    ports: [{ name: 'game', port: 7777, protocol: 'UDP' }],
  })
  const users = [{ user_type: 'ip_address', user_data: { ip_address: '203.0.113.7' } }] as const
  const { request_id } = await client.deployments.create({ application: 'my-game', version: '1.0', users })
  await client.deployments.waitUntilReady(request_id)
  console.log('the server is READY; nobody but itself will stop it')

  const statusOf = async () => (await client.deployments.get({ request_id })).current_status
  while ((await statusOf()) !== 'Status.TERMINATED') await systemClock.sleep(100)
  console.log('the server has stopped itself')
  assert.deepEqual(emulator.counters.requests['deployments.stop'], undefined)
  await client.close()
  await emulator.close()
}

await (process.argv.includes('--game-server') ? gameServer() : backend())
