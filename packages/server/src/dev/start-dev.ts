import { randomBytes } from 'node:crypto'
import { type AddressInfo, createServer } from 'node:net'
import { Conflict, type Coordinates, createClient } from '@muster/core'
import { seededRandom, systemClock } from '@muster/core/clock'
import { beacons, type ContainerSpec, createEmulator, type PlaceBeacon, places } from '@muster/emulator'
import { defaultGameServerSettings, simulatedGameServers } from '@muster/emulator/internal'
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

interface DevPlayersOptions {
  /** The queues in force. */
  readonly queues: () => readonly Queue[]
  readonly beacons: BotWorld['beacons']
  /** Where players are who do not say. */
  readonly place: Coordinates
  /** Whether addresses are looked up, so that they tell the place. */
  readonly areLocated: boolean
}

/** Skill, where a rule compares it and a player states none. */
export const SKILL = 1500
/** Always in the middle, so that players who state nothing may all play together. */
const MIDDLE = () => 0.5

/**
 * The matchmaker as `muster dev` uses it: it believes what players state, unless the queue has `playerMayState`, and
 * fills in what a rule compares and they do not state.
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

/** The port if it is free on this machine, or else any free one; likewise for 0. */
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

/** Servers start within a second or two. */
const SPEED = 5

/**
 * Listens on this machine alone, so that its token need be no secret.
 * @param port is free.
 */
async function openDevEmulator(port: number) {
  const token = 'dev'
  /** Plays a server of a pool, in place of the container that there is not. Nothing listens at its port. */
  const play = simulatedGameServers(
    // Its matches end when Muster ends them.
    { ...defaultGameServerSettings, matchMs: Number.MAX_SAFE_INTEGER },
    { clock: systemClock, random: seededRandom(randomBytes(4).readUInt32LE()), speed: SPEED, fetch },
  )
  const emulator = createEmulator({
    speed: SPEED,
    token,
    launch: (spec) => (spec.env['MUSTER_POOL'] === undefined ? register(spec) : play(spec)),
  })
  const { url } = await emulator.listen({ port })
  const client = createClient({ baseUrl: url, token })
  const made = new Set<string>()

  const make = async (what: string, create: () => Promise<unknown>) => {
    if (made.has(what)) return
    made.add(what)
    await create().catch((error: unknown) => {
      if (!(error instanceof Conflict)) throw error
    })
  }
  /** Makes the applications that queues and pools deploy, as far as they are missing. */
  const prepare = async (deployed: readonly Pick<Queue, 'deploy'>[]) => {
    for (const { deploy } of deployed) {
      const { application, version } = deploy
      await make(application, () => client.applications.create({ name: application }))
      await make(`${application} ${version}`, () =>
        client.versions.create({
          app_name: application,
          name: version,
          docker_repository: 'registry.example.com',
          docker_image: 'studio/server',
          docker_tag: version,
          req_cpu: 256,
          req_memory: 512,
          ports: [{ name: 'game', port: 7777, protocol: 'UDP' }],
        }),
      )
    }
  }
  return {
    url,
    token,
    prepare,
    close: async () => {
      await client.close()
      await emulator.close()
    },
  }
}

/**
 * Registers in place of the server that there is not: nothing listens at its port. Deployments stay simulated, at ports
 * of this machine.
 */
async function register({ env }: Pick<ContainerSpec, 'env'>): Promise<undefined> {
  const { MM_REGISTRATION_URL: url, MM_REGISTRATION_SECRET: secret, MM_MATCH_ID: match_id } = env
  if (url === undefined) return
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
  // A match that was given up meanwhile is refused, and so is everything while the program ends.
  await fetch(url, { method: 'POST', headers, body: JSON.stringify({ match_id }) }).catch(() => {})
}

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
  /** Reads the configuration again. A wrong file is logged and changes nothing. */
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
  // The service and its servers need the port before the program listens.
  const port = await freePort(wanted.port)
  const emulator = await openDevEmulator(await freePort(wanted.emulatorPort))
  const read = async () => {
    const config = await readDevConfig({ path, port, service: emulator })
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
