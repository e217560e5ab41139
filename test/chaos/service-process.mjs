// The service in its own process, so that it can be suspended, in plain JavaScript so that Node runs it directly.
import { fileURLToPath } from 'node:url'
import { createClient } from '@muster/core'
import { seededRandom } from '@muster/core/clock'
import { createEmulator, launchProcess } from '@muster/emulator'

/** `witness`: port to which game servers report what they do. Without it, deployments run no process. */
const { seed, witness } = JSON.parse(process.argv[2])
const server = fileURLToPath(new URL('game-server-process.mjs', import.meta.url))
const emulator = createEmulator({
  random: seededRandom(seed),
  page: false,
  deployTimes: { seekMs: 50, deployMs: 250, cachedDeployMs: 250, terminateMs: 100, spread: 0.5 },
  deployments: { listLagMs: 150 },
  ...(witness && { token: 'dev', launch: launchProcess(process.execPath, [server, String(witness), String(seed)]) }),
})
const { url } = await emulator.listen()
const client = createClient({ baseUrl: url, token: 'dev' })
await client.applications.create({ name: 'game', is_active: true })
await client.versions.create({
  app_name: 'game',
  name: '1',
  docker_repository: 'registry.example.com',
  docker_image: 'studio/game',
  docker_tag: '1',
  req_cpu: 512,
  req_memory: 512,
  ports: [{ name: 'game', port: 7777, protocol: 'UDP' }],
  termination_grace_period_seconds: 5,
})
await client.close()

process.on('message', () => {
  const deployments = emulator
    .inspect()
    .deployments.map(({ request_id, tags, current_status }) => ({ request_id, tags, current_status }))
  process.send({ kind: 'deployments', deployments, rejected: emulator.counters.rejected })
})
process.on('disconnect', () => process.exit(0))
process.send({ kind: 'listening', url })
