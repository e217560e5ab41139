import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { randomBytes } from 'node:crypto'
import { systemClock } from '@muster/core/clock'
import { nodeListener } from '@muster/core/http'
import { type Container, type ContainerSpec, launchProcess } from '@muster/emulator'
import { createMatchmaker, createTicketApi } from '@muster/matchmaker'
import { openDevEmulator } from '../../dev/dev-emulator.js'
import { SeenServer, until } from './seen-server.js'

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
  readonly matches?: readonly { readonly match_id: string; readonly assignment?: { readonly join_token?: string } }[]
}

export interface StageOptions {
  /** The program and its arguments. */
  readonly command: readonly string[]
  /** The working directory. */
  readonly folder: string
  readonly env: Readonly<Record<string, string | undefined>>
}

export async function openStage({ command: [program = '', ...args], folder, env }: StageOptions) {
  const servers: SeenServer[] = []
  const results = new Map<string, unknown>()
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
  /** A deployment as a process, which is told to end only if it does not by itself. */
  const launch = async (spec: ContainerSpec): Promise<Container> => {
    const seen = new SeenServer(spec.env['MUSTER_SERVER_TOKEN'] ?? '')
    const number = servers.push(seen) - 1
    const container = await started({ ...spec, env: { ...spec.env, MUSTER_VERIFY_URL: `${url}/verify/${number}` } })
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
  const seat = async (player: string): Promise<Seat | undefined> => {
    const mine = (await (await call(player, 'GET', '/me')).json()) as Mine
    const { match_id: matchId, assignment } = mine.matches?.[0] ?? {}
    const joinToken = assignment?.join_token
    return matchId === undefined || joinToken === undefined ? undefined : { matchId, token: joinToken }
  }

  return {
    /** Processes in the order of their start. */
    servers,
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
      await matchmaker.close({ stopServers: false })
      await emulator.close()
      listener.close()
      listener.closeAllConnections()
    },
  }
}
