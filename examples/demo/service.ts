import { createClient, type Client } from '@muster/core'
import { seededRandom } from '@muster/core/clock'
import { createEmulator, type Emulator, type EmulatorOptions } from '@muster/emulator'
import { badDay } from './faults.js'
import type { DemoOptions } from './options.js'
import type { Player } from './players.js'

/** Servers start and stop this many times faster than they would; players wait in real time. */
export const SPEED = 5

type PlaceOf = (ip: string) => Player | undefined

interface Service {
  readonly emulator: Emulator
  readonly client: Client
  /** Where the emulator listens. */
  readonly url: string
}

/**
 * The service on a port, a client of it, and a version of the game to deploy.
 * @param gameServers how servers play that report. Default: they do not.
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
  // Service, matchmaker and client share one thread here, so requests may arrive later than on a real network.
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
