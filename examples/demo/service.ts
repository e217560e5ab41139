import { createClient, type Client } from '@muster/core'
import { seededRandom } from '@muster/core/clock'
import { createEmulator, type Emulator, type EmulatorOptions } from '@muster/emulator'
import { badDay } from './faults.js'
import type { DemoOptions } from './options.js'
import type { Player } from './players.js'

/** Factor by which servers start and stop faster than in reality. Players wait in real time. */
export const SPEED = 5

type PlaceOf = (ip: string) => Player | undefined

interface Service {
  readonly emulator: Emulator
  readonly client: Client
  /** URL of the emulator. */
  readonly url: string
}

/**
 * Starts the service on a port, with a client, and creates a version of the game to deploy.
 * @param gameServers behaviour of simulated game servers that report. Default: servers do not report.
 */
export async function startService(
  { seed, faults }: DemoOptions,
  placeOf: PlaceOf,
  gameServers: EmulatorOptions['gameServers'] = false,
): Promise<Service> {
  const emulator = createEmulator({
    random: seededRandom(seed),
    speed: SPEED,
    locate: placeOf,
    faults: faults ? badDay : [],
    gameServers,
  })
  const { url } = await emulator.listen()
  // Service, matchmaker and client share one thread, so requests may arrive later than on a real network.
  const client = createClient({ baseUrl: url, token: 'dev', jitterMs: 500 })
  await client.applications.create({ name: 'demo-game', is_active: true })
  await client.versions.create({
    app_name: 'demo-game',
    name: 'v1',
    docker_repository: 'registry.example.com',
    docker_image: 'studio/demo-game',
    docker_tag: '1.0',
    req_cpu: 512,
    req_memory: 1024,
    force_cache: true,
    ports: [{ name: 'game', port: 7777, protocol: 'UDP' }],
    termination_grace_period_seconds: 5,
  })
  return { emulator, client, url }
}

export const running = (emulator: Emulator) =>
  emulator.inspect().deployments.filter(({ current_status }) => current_status !== 'Status.TERMINATED')
