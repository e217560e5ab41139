import { createClient } from '@muster/core'
import { createEmulator } from '@muster/emulator'

/** Starts the emulated service on this machine, with the game of the configuration. */
export async function startService() {
  const emulator = createEmulator()
  const { url } = await emulator.listen({ port: 0 })
  const client = createClient({ baseUrl: url, token: 'dev' })
  await client.applications.create({ name: 'game' })
  await client.versions.create({
    app_name: 'game',
    name: '1',
    docker_repository: 'registry.example.com',
    docker_image: 'game',
    docker_tag: '1',
    req_cpu: 1000,
    req_memory: 1024,
    ports: [{ port: 7777, protocol: 'UDP', name: 'game' }],
  })
  await client.close()
  return { url, close: () => emulator.close() }
}
