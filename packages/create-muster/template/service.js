// The deployment service on this machine, only for compose.yaml. Each game server is a process of server.js.
import { createClient } from '@muster/core'
import { createEmulator, launchProcess } from '@muster/emulator'

const { MUSTER_TOKEN: token, PORT = 8090 } = process.env
const emulator = createEmulator({
  token,
  launch: launchProcess(process.execPath, ['server.js']),
  deployTimes: { seekMs: 100, cachedDeployMs: 100, deployMs: 100, spread: 0 },
  // compose.yaml publishes these ports for players. `webhookHosts: 'any'` lets the service notify Muster as soon as a
  // server ends.
  deployments: { processPorts: { from: 20_000, to: 20_009 }, webhookHosts: 'any' },
  page: false,
})
const { url } = await emulator.listen({ host: '0.0.0.0', port: Number(PORT), allowedHosts: ['service'] })

// Creates the application and the version that muster.yaml deploys.
const client = createClient({ baseUrl: url, token })
await client.applications.create({ name: 'my-game' })
await client.versions.create({
  app_name: 'my-game',
  name: '1',
  docker_repository: 'registry.example.com',
  docker_image: 'my-game',
  docker_tag: '1',
  req_cpu: 256,
  req_memory: 256,
  ports: [{ name: 'game', port: 7777, protocol: 'WS' }],
})
await client.close()
console.log(url)
for (const signal of ['SIGTERM', 'SIGINT'])
  process.once(signal, async () => {
    await emulator.close()
    process.exit()
  })
