import { createClient, type ClientOptions, inProcess } from '@muster/core'
import { createEmulator } from '@muster/emulator'
import { expect, onTestFinished, test } from 'vitest'

const users = [{ user_type: 'ip_address', user_data: { ip_address: '203.0.113.7' } }] as const
const image = { docker_repository: 'registry.example.com', docker_image: 'studio/server', docker_tag: '1.0' }
const ports = [{ name: 'game', port: 7777, protocol: 'UDP' }]

/**
 * Makes 80 simultaneous creates with a new client. Returns the number that the service refused because of its rate
 * limit.
 */
async function refusedOfBurst(through: 'HTTP' | 'a function call'): Promise<number> {
  const emulator = createEmulator()
  onTestFinished(() => emulator.close())
  const options: ClientOptions =
    through === 'HTTP'
      ? { baseUrl: (await emulator.listen()).url, token: 'dev' }
      : { baseUrl: 'http://emulator.invalid', token: 'dev', dispatcher: inProcess(emulator.fetch) }
  const client = createClient(options)
  onTestFinished(() => client.close())
  await client.applications.create({ name: 'game' })
  await client.versions.create({ app_name: 'game', name: '1', ...image, req_cpu: 512, req_memory: 1024, ports })
  await Promise.all(
    Array.from({ length: 80 }, () => client.deployments.create({ application: 'game', version: '1', users })),
  )
  return emulator.counters.rejected['createDeployment'] ?? 0
}

// In real time, because the delay between sending and counting comes from the work of this process.
test.each(['HTTP', 'a function call'] as const)(
  'no create of a first burst to an emulator in this process, by %s, is refused',
  async (through) => {
    expect(await refusedOfBurst(through)).toBe(0)
  },
)
