import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { randomBytes } from 'node:crypto'
import { systemClock } from '@muster/core/clock'
import { nodeListener } from '@muster/core/http'
import { type Container, type ContainerSpec, launchProcess } from '@muster/emulator'
import { createMatchmaker, createTicketApi } from '@muster/matchmaker'
import { openDevEmulator } from '../../dev/dev-emulator.js'
import { Bot, type GameClient, RemoteBot } from './bot.js'
import { SeenServer } from './seen-server.js'
import { until } from './until.js'

const POOL = 'arena'
const QUEUE = 'verify'
const DEPLOY = { application: 'game', version: '1' }

/** Milliseconds that a process has to end by itself before it is told to, as it would be by Muster. */
const BY_ITSELF_MS = 10_000
const GRACE_MS = 3000
/** Milliseconds between two looks at a player: a caller may look 50 times in 5 s. */
const LOOK_MS = 150

const BAD_GATEWAY = () => new Response('Bad gateway', { status: 502 })
const NOTHING: Container = { exited: Promise.resolve(127), stop: () => {}, logs: () => '' }

export interface Seat {
  readonly matchId: string
  /** A fresh join token. */
  readonly token: string
}

/** Muster in memory, with a pool whose servers are processes of the command. */
export type Stage = Awaited<ReturnType<typeof openStage>>

interface Mine {
  readonly matches?: readonly { readonly match_id: string; readonly assignment?: Assigned }[]
}
interface Assigned {
  readonly join_token?: string
  readonly fqdn?: string
  readonly ports?: Readonly<Record<string, { readonly external: number | null }>>
}
interface Claims {
  readonly sub: string
}

export interface StageOptions {
  /** The program and its arguments. */
  readonly command: readonly string[]
  /** The working directory. */
  readonly folder: string
  readonly env: Readonly<Record<string, string | undefined>>
  /**
   * The game's client and its arguments, or an URL that connects one for each POST. Undefined: the server is asked to
   * do what players would.
   */
  readonly client?: readonly string[] | string | undefined
}

export async function openStage({ command: [program = '', ...args], folder, env, client }: StageOptions) {
  const servers: SeenServer[] = []
  const results = new Map<string, unknown>()
  /** What players were told last, by id. */
  const assignments = new Map<string, Assigned>()
  /** Tokens of servers that have to register again. */
  const forgotten = new Set<string>()
  let isClosing = false
  /** Aborted while Muster is away. */
  let presence = new AbortController()
  /** What Muster answers, or a proxy in front of it once Muster is away. */
  const answerOf = async (request: Request): Promise<Response> => {
    const { signal } = presence
    if (signal.aborted) return BAD_GATEWAY()
    const answered = new AbortController()
    const gone = new Promise<Response>((resolve) => {
      signal.addEventListener('abort', () => resolve(BAD_GATEWAY()), { once: true, signal: answered.signal })
    })
    const answer = await Promise.race([gone, api(request, { remoteAddress: '127.0.0.1' })])
    answered.abort()
    return answer
  }
  const ofServer = async (seen: SeenServer, request: Request, path: string): Promise<Response> => {
    if (path !== '/servers' && forgotten.has(seen.token) && !presence.signal.aborted)
      return Response.json({ code: 'server-not-registered', detail: 'Muster has restarted.' }, { status: 409 })
    const number = seen.comes()
    const said = await request.clone().text()
    const answer = await answerOf(request)
    if (path === '/servers' && answer.ok) forgotten.delete(seen.token)
    await seen.hear(number, path, said, answer.clone())
    return answer
  }
  const listener = createServer(
    nodeListener(async (request) => {
      const { pathname } = new URL(request.url)
      const verified = /^\/verify\/(\d+)$/.exec(pathname)?.[1]
      if (verified !== undefined)
        return (await servers[Number(verified)]?.verify(request)) ?? new Response(null, { status: 410 })
      const token = request.headers.get('authorization')?.replace('Bearer ', '')
      const seen = servers.find((one) => one.token === token)
      return seen === undefined
        ? api(request, { remoteAddress: '127.0.0.1' })
        : ofServer(seen, request, pathname.replace(/\/$/, ''))
    }),
  )
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`

  const start = launchProcess(program, args, { cwd: folder, env })
  /** A command that cannot be started has ended, as a shell says it. */
  const started = async (spec: ContainerSpec): Promise<Container> => {
    try {
      return (await start(spec)) ?? NOTHING
    } catch (error) {
      return { ...NOTHING, logs: () => String(error) }
    }
  }
  /** Starts the game's client with where to connect and its token, as an assignment says them. */
  const connect = async (token: string): Promise<GameClient> => {
    const { sub: player } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Claims
    const { fqdn = '', ports = {} } = (await assignmentOf(player)) ?? {}
    if (typeof client === 'string') {
      const open = Object.entries(ports).flatMap(([name, { external }]) =>
        external ? [[name, external] as const] : [],
      )
      return new RemoteBot(client, { host: fqdn, ports: Object.fromEntries(open), token })
    }
    const external = Object.entries(ports).map(([name, port]) => [`MUSTER_PORT_${name.toUpperCase()}`, port.external])
    const where = { MUSTER_HOST: fqdn, MUSTER_JOIN_TOKEN: token, ...Object.fromEntries(external) }
    return new Bot({ command: client ?? [], folder, env: { ...env, ...where } })
  }
  /** A deployment as a process, which is told to end only if it does not by itself. */
  const launch = async (spec: ContainerSpec): Promise<Container> => {
    const seen = new SeenServer(spec.env['MUSTER_SERVER_TOKEN'] ?? '', client === undefined ? undefined : connect)
    const number = servers.push(seen) - 1
    // With a client of the game, nobody stands in for players.
    const verified = client === undefined ? { MUSTER_VERIFY_URL: `${url}/verify/${number}` } : {}
    const container = await started({ ...spec, env: { ...spec.env, ...verified } })
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
    queues: [
      {
        name: QUEUE,
        pool: POOL,
        teams: [
          { name: 'red', size: 1 },
          { name: 'blue', size: 1 },
        ],
      },
    ],
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

  const call = (player: string, method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${player}`, 'content-type': 'application/json' }
    const request = new Request(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    return api(request, { remoteAddress: '127.0.0.1' })
  }
  const matchOf = async (player: string) => {
    const mine = (await (await call(player, 'GET', '/me')).json()) as Mine
    return mine.matches?.[0]
  }
  /** Where the player connects: what they were told last, since Muster may be away. */
  const assignmentOf = async (player: string) => {
    const known = assignments.get(player)
    return known ?? (await matchOf(player))?.assignment
  }
  const seat = async (player: string): Promise<Seat | undefined> => {
    const { match_id: matchId, assignment } = (await matchOf(player)) ?? {}
    if (assignment !== undefined) assignments.set(player, assignment)
    const joinToken = assignment?.join_token
    return matchId === undefined || joinToken === undefined ? undefined : { matchId, token: joinToken }
  }

  return {
    /** Processes in the order of their start. */
    servers,
    /** Whether clients of the game stand for players. */
    hasClient: client !== undefined,
    matchmaker,
    /** Results that came with the end of a match, by its id. */
    results,
    /** Queues players. @throws {Error} if one cannot queue */
    join: async (players: readonly string[]) => {
      for (const player of players) {
        const answer = await call(player, 'POST', '/tickets', { profile: QUEUE })
        if (answer.status !== 201) throw new Error(`${player} cannot queue: ${await answer.text()}`)
      }
    },
    /** Undefined while the player is in no match, or not yet sent to its server. */
    seat,
    /** The seat that a player gets within so many milliseconds. @param isVain ends the wait */
    seatWithin: async (player: string, ms: number, isVain: () => boolean = () => false): Promise<Seat | undefined> => {
      const end = systemClock.now() + ms
      for (;;) {
        const found = await seat(player)
        if (found !== undefined || isVain() || systemClock.now() >= end) return found
        await systemClock.sleep(LOOK_MS)
      }
    },
    /** Takes Muster away from all servers. Returns what brings it back, as after a restart: servers register again. */
    cut: (): (() => void) => {
      presence.abort()
      for (const one of servers) forgotten.add(one.token)
      return () => {
        presence = new AbortController()
      }
    },
    /** Ends all processes. */
    close: async () => {
      isClosing = true
      await Promise.all(servers.map((server) => server.endBots()))
      await matchmaker.close({ stopServers: false })
      await emulator.close()
      listener.close()
      listener.closeAllConnections()
    },
  }
}
