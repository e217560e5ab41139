/**
 * One process of a cold burst. Its first arguments select what it does:
 *
 * - `within <creates>`: an emulator, and a client that calls it as a function. Sends the number of refused creates.
 * - `loopback <creates>`: the same over HTTP.
 * - `emulator`: an emulator. Sends its address, and on any message the number of refused creates.
 * - `client <creates> <url> <share>`: a client. Sends a message when all creates are done.
 * - `busy`: keeps one core busy.
 */
import { createClient, inProcess, type ClientOptions } from '@muster/core'
import { createEmulator } from '@muster/emulator'

const [role = '', creates = '0', serviceUrl = '', share = '1'] = process.argv.slice(2)
const tell = (message: number | string) => process.send?.(message)

async function create(options: Partial<ClientOptions>): Promise<void> {
  await using client = createClient({
    baseUrl: 'http://emulator.invalid',
    token: 'dev',
    timeoutMs: 120_000,
    ...options,
  })
  const users = [{ user_type: 'ip_address', user_data: { ip_address: '203.0.113.7' } }] as const
  await Promise.all(
    Array.from({ length: Number(creates) }, () =>
      client.deployments.create({ application: 'game', version: '1', users }),
    ),
  )
}

async function emulatorWithGame() {
  const emulator = createEmulator()
  const { url } = await emulator.listen()
  await using client = createClient({ baseUrl: url, token: 'dev' })
  await client.applications.create({ name: 'game' })
  const image = { docker_repository: 'registry.example.com', docker_image: 'studio/server', docker_tag: '1.0' }
  const ports = [{ name: 'game', port: 7777, protocol: 'UDP' }]
  await client.versions.create({ app_name: 'game', name: '1', ...image, req_cpu: 512, req_memory: 1024, ports })
  return { emulator, url, refused: () => emulator.counters.rejected['createDeployment'] ?? 0 }
}

async function together(over: 'HTTP' | 'a function'): Promise<void> {
  const { emulator, url, refused } = await emulatorWithGame()
  await create(over === 'HTTP' ? { baseUrl: url } : { dispatcher: inProcess(emulator.fetch) })
  tell(refused())
  await emulator.close()
}

const roles: Readonly<Record<string, () => Promise<void>>> = {
  within: () => together('a function'),
  loopback: () => together('HTTP'),
  emulator: async () => {
    const { emulator, url, refused } = await emulatorWithGame()
    process.once('message', () => {
      tell(refused())
      void emulator.close()
    })
    tell(url)
  },
  client: async () => {
    await create({ baseUrl: serviceUrl, share: Number(share) })
    tell('made')
  },
  busy: async () => {
    for (;;) {
      for (const until = performance.now() + 100; performance.now() < until;);
      await new Promise((resolve) => setImmediate(resolve)) // lets the process notice the end of its parent
    }
  },
}

process.on('disconnect', () => process.exit())
await roles[role]?.()
