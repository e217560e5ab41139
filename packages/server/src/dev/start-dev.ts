import { randomBytes } from 'node:crypto'
import { seededRandom, systemClock } from '@muster/core/clock'
import { beacons, places, type PlaceBeacon } from '@muster/emulator'
import { tellNotReloaded } from '../running/config-file.js'
import { startServer, type MusterServer } from '../running/start-server.js'
import type { BotCity } from './bot-player.js'
import { createBots, type Bots } from './bots.js'
import { readDevConfig } from './dev-config.js'
import { withDevPlayers } from './dev-players.js'
import { freePort } from './free-port.js'
import { openDevEmulator } from './dev-emulator.js'

export interface DevOptions {
  /** The configuration of the game. Default: an example with three queues. */
  readonly config?: string | undefined
  /** The token for everything. Default: a random one. */
  readonly token?: string | undefined
  /** Ports that are tried first; if one is taken, any free one. Defaults 8080 and 8090. */
  readonly port?: number | undefined
  readonly emulatorPort?: number | undefined
  /** Where lines of the log go. Default: the standard output. */
  readonly write?: ((line: string) => void) | undefined
}

/** Emulator, server and console in one process. */
export interface Dev {
  readonly token: string
  /** The console's has the token in its fragment, which no request holds. */
  readonly urls: { readonly console: string; readonly api: string; readonly emulator: string }
  /** Ports that were asked for, and that another program has. */
  readonly taken: readonly number[]
  readonly server: MusterServer
  readonly bots: Bots
  /** Reads the configuration again. A file that is wrong is told, and changes nothing. */
  readonly reload: () => Promise<void>
  readonly close: () => Promise<void>
}

/**
 * Starts all that a game developer needs on one machine, with nothing to configure.
 * @throws {InvalidConfig} with all that is wrong in the configuration
 */
export async function startDev(options: DevOptions = {}): Promise<Dev> {
  const { config: path, write } = options
  const wanted = { port: options.port ?? 8080, emulatorPort: options.emulatorPort ?? 8090 }
  const token = options.token ?? randomBytes(12).toString('base64url')
  // The service and its servers are told the port before the program listens.
  const port = await freePort(wanted.port)
  const emulator = await openDevEmulator(await freePort(wanted.emulatorPort))
  const read = async () => {
    const config = await readDevConfig({ path, port, service: emulator })
    await emulator.prepare(config.queues)
    return config
  }
  const queues = () => server.config().queues
  const world = { cities: places.map(spotOf), beacons: beacons.map(spotOf) }
  const bots: Bots = createBots({
    service: () => server.service,
    queues,
    world: {
      ...world,
      random: seededRandom(randomBytes(4).readUInt32LE()),
    },
    clock: systemClock,
    onProblem: (error) => server.log.debug('a bot gave up', { why: String(error) }),
  })
  let server: MusterServer
  try {
    const config = await read()
    const players = {
      queues,
      beacons: world.beacons,
      place: world.cities[0] as BotCity,
      areLocated: config.locate !== undefined,
    }
    server = await startServer(config, {
      write,
      devToken: token,
      letBotsIn: bots.letIn,
      adaptService: (service) => withDevPlayers(service, players),
    })
  } catch (error) {
    await emulator.close()
    throw error
  }
  return {
    token,
    urls: {
      console: `${server.url}/console/#token=${token}`,
      api: server.url,
      emulator: `${emulator.url}/_emulator`,
    },
    taken: [
      ...(isOther(server.url, wanted.port) ? [wanted.port] : []),
      ...(isOther(emulator.url, wanted.emulatorPort) ? [wanted.emulatorPort] : []),
    ],
    server,
    bots,
    reload: () =>
      read()
        .then(server.reload)
        .then(
          () => {},
          (error: unknown) => tellNotReloaded(server.log, error),
        ),
    close: async () => {
      await bots.close()
      await server.close()
      await emulator.close()
    },
  }
}

const spotOf = ({ location }: Pick<PlaceBeacon, 'location'>) => ({
  name: location.city,
  latitude: location.latitude,
  longitude: location.longitude,
})

const isOther = (url: string, wanted: number) => wanted !== 0 && Number(new URL(url).port) !== wanted
