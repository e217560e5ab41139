import { randomBytes } from 'node:crypto'
import { type Container, type ContainerSpec, launchProcess } from '@muster/emulator'
import { createMatchmaker, createTicketApi } from '@muster/matchmaker'
import { openDevEmulator } from '../../dev/dev-emulator.js'
import { Bot, type GameClient, RemoteBot } from './bot.js'
import { Gateway } from './gateway.js'
import { type Assigned, QueueingPlayers } from './players.js'
import { claimsIn, SeenServer } from './seen-server.js'
import { until } from './until.js'

const POOL = 'arena'
const QUEUE = 'verify'
const DEPLOY = { application: 'game', version: '1' }
const TEAMS = [
  { name: 'red', size: 1 },
  { name: 'blue', size: 1 },
]

/** Milliseconds that a process has to end by itself before it gets a signal, as in production. */
const BY_ITSELF_MS = 10_000
const GRACE_MS = 3000

const NOTHING: Container = { exited: Promise.resolve(127), stop: () => {}, logs: () => '' }

export interface StageOptions {
  /** The program and its arguments. */
  readonly command: readonly string[]
  /** The working directory. */
  readonly folder: string
  readonly env: Readonly<Record<string, string | undefined>>
  /**
   * The command of the game's client, or a URL that connects a client for each POST. Undefined if the server itself
   * executes the players' commands.
   */
  readonly client?: readonly string[] | string | undefined
}

/** Muster in memory, with a pool whose servers are processes of the tested command. */
export type Stage = Awaited<ReturnType<typeof openStage>>

export async function openStage(options: StageOptions) {
  const { client } = options
  const servers: SeenServer[] = []
  const results = new Map<string, unknown>()
  let isClosing = false
  const ask = (request: Request) => api(request, { remoteAddress: '127.0.0.1' })
  const players = new QueueingPlayers(ask, QUEUE)
  const gateway = new Gateway(servers, ask)
  const url = await gateway.listen()

  const connect = async (token: string) => {
    return clientOf(options, (await players.assignmentOf(claimsIn(token).sub)) ?? {}, token)
  }
  const start = starter(options)
  /** Starts a process as a deployment. It gets a signal only if it does not end by itself. */
  const launch = async (spec: ContainerSpec): Promise<Container> => {
    const seen = new SeenServer(spec.env['MUSTER_SERVER_TOKEN'] ?? '', client === undefined ? undefined : connect)
    const number = servers.push(seen) - 1
    // If clients of the game act as players, the server does not need MUSTER_VERIFY_URL.
    const verified = client === undefined ? { MUSTER_VERIFY_URL: `${url}/verify/${number}` } : {}
    const container = await start({ ...spec, env: { ...spec.env, ...verified } })
    seen.watch(container)
    const end = async () => {
      await until(() => isClosing || seen.exitCode !== undefined, BY_ITSELF_MS + GRACE_MS)
      container.stop(GRACE_MS)
    }
    return { ...container, stop: () => void end() }
  }

  const emulator = await openDevEmulator({ port: 0, token: randomBytes(12).toString('base64url'), launch })
  await emulator.prepare([{ deploy: DEPLOY }])
  const matchmaker = createMatchmaker({
    deployments: emulator.deployments,
    queues: [{ name: QUEUE, pool: POOL, teams: TEAMS }],
    pools: [{ name: POOL, deploy: DEPLOY, reuse: { maxMatches: 100 } }],
    apiUrl: url,
    tickMs: 50,
  })
  matchmaker.on('matchOver', ({ matchId, result }) => results.set(matchId, result))
  const api = createTicketApi(matchmaker, {
    authenticate: (request) => {
      const id = request.headers.get('authorization')?.replace('Bearer ', '')
      return id === undefined ? undefined : { id }
    },
  })
  matchmaker.start()

  return {
    /** Processes in the order of their start. */
    servers,
    /** True if clients of the game act as players. */
    hasClient: client !== undefined,
    players,
    gateway,
    matchmaker,
    /** The results of ended matches, by match id. */
    results,
    /** Ends all processes. */
    close: async () => {
      isClosing = true
      await Promise.all(servers.map((server) => server.endBots()))
      await matchmaker.close({ stopServers: false })
      await emulator.close()
      gateway.close()
    },
  }
}

/**
 * Returns a function that starts the program. A program that cannot be started counts as ended, with a shell's exit
 * code.
 */
function starter({ command: [program = '', ...args], folder, env }: StageOptions) {
  const start = launchProcess(program, args, { cwd: folder, env })
  return async (spec: ContainerSpec): Promise<Container> => {
    try {
      return (await start(spec)) ?? NOTHING
    } catch (error) {
      return { ...NOTHING, logs: () => String(error) }
    }
  }
}

/** Starts the game's client. It gets the address and the token in the form of an assignment. */
function clientOf(
  { client, folder, env }: StageOptions,
  { fqdn = '', ports = {} }: Assigned,
  token: string,
): GameClient {
  if (typeof client === 'string') {
    const open = Object.entries(ports).flatMap(([name, { external }]) => (external ? [[name, external] as const] : []))
    return new RemoteBot(client, { host: fqdn, ports: Object.fromEntries(open), token })
  }
  const external = Object.entries(ports).map(([name, port]) => [`MUSTER_PORT_${name.toUpperCase()}`, port.external])
  const where = { MUSTER_HOST: fqdn, MUSTER_JOIN_TOKEN: token, ...Object.fromEntries(external) }
  return new Bot({ command: client ?? [], folder, env: { ...env, ...where } })
}
