import { randomBytes } from 'node:crypto'
import { seededRandom, systemClock } from '@muster/core/clock'
import { beacons, places, type PlaceBeacon } from '@muster/emulator'
import type { Config } from '../config/config.js'
import { tellNotReloaded } from '../running/config-file.js'
import { startServer, type MusterServer, type ServerDeps } from '../running/start-server.js'
import { createBots, type Bots } from './bots.js'
import { readDevConfig } from './dev-config.js'
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
  const { config: path, port = 8080, emulatorPort = 8090, write } = options
  const token = options.token ?? randomBytes(12).toString('base64url')
  const emulator = await openDevEmulator(emulatorPort)
  const read = async () => {
    const config = await readDevConfig({ path, port, service: emulator })
    await emulator.prepare(config.queues)
    return config
  }
  const bots: Bots = createBots({
    service: () => server.service,
    queues: () => server.config().queues,
    world: {
      cities: places.map(spotOf),
      beacons: beacons.map(spotOf),
      random: seededRandom(randomBytes(4).readUInt32LE()),
    },
    clock: systemClock,
    onProblem: (error) => server.log.debug('a bot gave up', { why: String(error) }),
  })
  let server: MusterServer
  try {
    server = await startAnywhere(await read(), { write, devToken: token, letBotsIn: bots.letIn })
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

/** At the port of the configuration or, if that is taken, at any free one. */
const startAnywhere = (config: Config, deps: ServerDeps): Promise<MusterServer> =>
  startServer(config, deps).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    return startServer({ ...config, listen: { ...config.listen, port: 0 } }, deps)
  })

const spotOf = ({ location }: Pick<PlaceBeacon, 'location'>) => ({
  name: location.city,
  latitude: location.latitude,
  longitude: location.longitude,
})
