import { randomBytes } from 'node:crypto'
import { type AddressInfo, createServer } from 'node:net'
import type { Coordinates } from '@muster/core'
import { seededRandom, systemClock } from '@muster/core/clock'
import { beacons, type EmulatorOptions, type PlaceBeacon, places } from '@muster/emulator'
import type { Player, Queue, TicketInput, TicketService } from '@muster/matchmaker'
import { tellNotReloaded, type MusterServer, startServer } from '../running/index.js'
import {
  attributesOf,
  type BotCity,
  type Bots,
  type BotWorld,
  createBots,
  latenciesOf,
  rolesIn,
  wantsLatencies,
} from './bots.js'
import { readDevConfig } from './dev-config.js'
import { type LaunchCommand, createProcesses, openDevEmulator } from './dev-emulator.js'

interface DevPlayersOptions {
  /** The current queues. */
  readonly queues: () => readonly Queue[]
  readonly beacons: BotWorld['beacons']
  /** The location of players who state none and whose address is not looked up. */
  readonly place: Coordinates
  /** True if the locations of players are looked up by their IP address. */
  readonly areLocated: boolean
}

/** The value of a skill attribute for players who state none, if a rule compares the attribute. */
export const SKILL = 1500
/** Replaces random numbers by the middle of their range, so that all players who state nothing can play together. */
const MIDDLE = () => 0.5

/**
 * Completes tickets in development. Players may state everything, unless the queue has `playerMayState`. Missing values
 * that rules compare get defaults.
 */
function withDevPlayers(service: TicketService, options: DevPlayersOptions): TicketService {
  const find = (name: string) => options.queues().find((queue) => queue.name === name)
  const complete = (ticket: TicketInput): TicketInput => {
    const queues = [ticket.queue ?? [], ticket.queues ?? []].flat().flatMap((name) => find(name) ?? [])
    if (queues.length === 0 || !Array.isArray(ticket.players)) return ticket
    return { ...ticket, players: ticket.players.map((player) => withDefaults(player, queues, options)) }
  }
  return {
    ...service,
    playerMayState: (name) => {
      const may = service.playerMayState(name)
      return may === undefined || find(name)?.playerMayState !== undefined ? may : () => true
    },
    createTicket: (ticket) => service.createTicket(complete(ticket)),
    createTickets: (tickets) => service.createTickets(tickets.map(complete)),
  }
}

function withDefaults(player: Player, queues: readonly Queue[], options: DevPlayersOptions): Player {
  const { place, areLocated } = options
  const rules = queues.flatMap((queue) => queue.rules).filter(refusesMissing)
  const coordinates = player.coordinates ?? (areLocated && player.ip !== undefined ? undefined : place)
  const roles = player.roles === undefined || player.roles.length === 0 ? rolesIn(rules) : player.roles
  const estimate = () => latenciesOf(coordinates ?? place, { beacons: options.beacons, random: MIDDLE })
  const latencies = player.latencies ?? (wantsLatencies(rules) ? estimate() : undefined)
  return {
    ...player,
    coordinates,
    attributes: { ...attributesOf(rules, SKILL, MIDDLE), ...player.attributes },
    roles,
    latencies,
  }
}

const refusesMissing = (rule: Queue['rules'][number]) => !('missing' in rule) || (rule.missing ?? 'refuse') === 'refuse'

/** Returns the wanted port if it is free on this machine. If it is taken or 0, returns any free port. */
async function freePort(wanted: number): Promise<number> {
  try {
    return await listened(wanted)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error
    return listened(0)
  }
}

const listened = (wanted: number): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(wanted, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })

export interface DevOptions {
  /** The configuration of the game. Default: an example with three queues. */
  readonly config?: string | undefined
  /**
   * Runs as a process for each deployment. Default: `launch` of the configuration. If neither is given, servers are
   * simulated.
   */
  readonly command?: LaunchCommand | undefined
  /** The token that gives access to everything. Default: a random one. */
  readonly token?: string | undefined
  /** The emulated service: `specification` (default) or `observed`. */
  readonly as?: EmulatorOptions['as']
  /** Preferred ports. If one is taken, any free port is used. Defaults 8080 and 8090. */
  readonly port?: number | undefined
  readonly emulatorPort?: number | undefined
  /** Writes lines of the log. Default: to the standard output. */
  readonly write?: ((line: string) => void) | undefined
}

/** The emulator, the server and the console in one process. */
export type Dev = Awaited<ReturnType<typeof startDev>>

/**
 * Starts everything that a game developer needs on one machine, without any configuration.
 * @throws {InvalidConfig} with all faults of the configuration
 */
export async function startDev(options: DevOptions = {}) {
  const { config: path, write } = options
  const wanted = { port: options.port ?? 8080, emulatorPort: options.emulatorPort ?? 8090 }
  const token = options.token ?? randomBytes(12).toString('base64url')
  // The ports are chosen first, because the emulator and its servers need the program's URL before it listens.
  const port = await freePort(wanted.port)
  const emulatorPort = await freePort(wanted.emulatorPort === port ? 0 : wanted.emulatorPort)
  const url = `http://127.0.0.1:${emulatorPort}`
  const command = options.command ?? (await readDevConfig({ path, port, service: { url, token: 'dev' } })).config.launch
  const processes = command && createProcesses(command, (line, { request_id: id }) => server.log.info(`${id}: ${line}`))
  // If the emulator starts processes, its token is random, because everybody who knows the token can start processes.
  const service = { url, token: command === undefined ? 'dev' : randomBytes(12).toString('base64url') }
  const emulator = await openDevEmulator({
    port: emulatorPort,
    token: service.token,
    as: options.as,
    launch: processes?.launch,
  })
  let ignored: readonly string[] = []
  const read = async () => {
    const { config, leftOut } = await readDevConfig({
      path,
      port,
      service: { ...service, settings: emulator.settings },
    })
    ignored = leftOut
    await emulator.prepare([...config.queues, ...config.pools])
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
      processes,
      adaptService: (asked) => withDevPlayers(asked, players),
    })
  } catch (error) {
    await emulator.close()
    throw error
  }
  return {
    token,
    /** The console's URL contains the token in its fragment, which browsers do not send. */
    urls: {
      console: `${server.url}/console/#token=${token}`,
      api: server.url,
      emulator: `${emulator.url}/_emulator`,
    },
    /** The requested ports that were taken by other programs. */
    taken: [
      ...(isOther(server.url, wanted.port) ? [wanted.port] : []),
      ...(isOther(emulator.url, wanted.emulatorPort) ? [wanted.emulatorPort] : []),
    ],
    /** Names of the file's sections that are ignored. */
    ignored,
    /** The command of each server's process; undefined if servers are simulated. */
    command,
    server,
    bots,
    /** Reads the configuration file again. An invalid file is logged, and changes nothing. */
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

const spotOf = ({ location: { city: name, latitude, longitude } }: Pick<PlaceBeacon, 'location'>) => ({
  name,
  latitude,
  longitude,
})

const isOther = (url: string, wanted: number) => wanted !== 0 && Number(new URL(url).port) !== wanted
