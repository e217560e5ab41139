import { InvalidInput } from '@muster/core'
import type { Random } from '@muster/core/clock'
import { readJoinToken } from '@muster/game-server/internal'
import { type Registered, ServerGone } from '../game-servers/index.js'
import type { ServerOrders } from '../game-servers/server-orders.js'
import type { EnrolmentRequest, ServerRegistration, ServerReport } from '../records/index.js'
import { chance, oneOf } from './random-faults.fixture.js'

type PlayerStatus = 'in' | 'away' | 'left'

type Reported = ServerReport['matches']

interface Playing {
  status: 'loading' | 'open' | 'over' | 'refused'
  readonly players: Map<string, PlayerStatus>
  readonly openAt: number
  readonly overAt: number
}

/** The calls that game servers send to a Muster process. */
export interface ServerCalls {
  registerServer(token: string, registration: ServerRegistration): Registered
  reportServer(token: string, report: ServerReport): Promise<ServerOrders>
  enrolServer?(key: string, request: EnrolmentRequest): Promise<Registered & { readonly token: string }>
}

/** The surroundings of the game server processes. Times are epoch milliseconds of its clock. */
export interface GameWorld {
  readonly random: Random
  readonly now: () => number
  /** Returns the running Muster process. Undefined while there is none. */
  readonly servers: () => ServerCalls | undefined
  readonly isCalm: () => boolean
  /** Returns the handle of the server to which the players of a match were sent. Undefined if they were not sent. */
  readonly sentTo: (matchId: string) => string | undefined
  /** Called when something other than Muster may have ended the match. Its end then breaks no promise. */
  readonly excuse: (matchId: string) => void
  readonly isExcused: (matchId: string) => boolean
  /** Players who have left a match, as `<match id> <player id>`. */
  readonly left: Set<string>
  /** True if two processes have run with one deployment's token. Muster may then take a match from the older one. */
  readonly isDoubled: (requestId: string) => boolean
  readonly broken: (fault: string) => void
  /** Called when a report was answered. The reported facts must then survive restarts. */
  readonly acknowledged?: (report: ServerReport, handle: string) => void
  /** Duration of a match in milliseconds. Default: 5 to 35 s. */
  readonly matchMs?: () => number
  readonly later: (atMs: number, act: () => void) => void
}

interface GameProcessOptions {
  /** Id of the deployment in which the process runs. For a process that enrols, its own name. */
  readonly requestId: string
  readonly token: string
  /** Key with which the process enrols. Undefined for a process whose server Muster has created. */
  readonly enrolmentKey?: string | undefined
  readonly capacity: number
  readonly isLiar: boolean
  readonly refuses: boolean
  readonly nth: number
}

/** Milliseconds after which a process gives up waiting for a response. */
const REQUEST_MS = 5000

/** A simulated process of a game server in an unreliable network. */
export interface GameProcess {
  readonly requestId: string
  readonly token: string
  readonly instance: string
  /** Returns the handle of the server at its source. */
  handle(): string
  step(): void
  /** Lets a player connect without a join token. */
  come(playerId: string, matchId: string): void
  /** Lets a player connect with a join token. Has no effect if the token is invalid. */
  connect(playerId: string, join: string): void
  leave(playerId: string): void
  silence(untilMs: number): void
  end(): void
  hasEnded(): boolean
  /** True if this process accepts the join token. */
  admits(join: string): boolean
  matches(): readonly string[]
}

export function createGameProcess(options: GameProcessOptions, world: GameWorld): GameProcess {
  const { requestId, enrolmentKey, capacity, isLiar, refuses, nth } = options
  const { random, now } = world
  const instance = `${requestId}-${nth}`
  const name = `${requestId}/${nth}`
  const playing = new Map<string, Playing>()
  let { token } = options
  let handle = requestId
  let seq = 0
  let joinKey: Parameters<typeof readJoinToken>[1] | undefined
  let isRegistered = false
  let isOver = false
  let isReplaced = false
  let silentUntil = 0

  /** Reports a broken promise if the match that Muster ends has players on this process. */
  const lost = (matchId: string, one: Playing, why: string) => {
    if (one.status !== 'open' || isLiar || isReplaced || world.isExcused(matchId) || world.isDoubled(requestId)) return
    if (world.sentTo(matchId) !== handle) return
    world.broken(`${name}: match ${matchId} was ended by us: ${why}`)
  }

  const end = (why: string) => {
    for (const [id, one] of playing) lost(id, one, why)
    isOver = true
    playing.clear()
  }

  const obey = (orders: ServerOrders) => {
    if (orders.matches.length > capacity)
      world.broken(`${name}: ${orders.matches.length} matches for ${capacity} at a time`)
    if (orders.reason === 'replaced') isReplaced = true
    for (const [id, one] of playing) {
      if (orders.matches.some((match) => match.id === id)) continue
      lost(id, one, `${orders.want} ${orders.reason ?? ''}`)
      playing.delete(id)
    }
    for (const { id } of orders.matches) {
      if (playing.has(id)) continue
      const status = refuses && !world.isCalm() ? 'refused' : 'loading'
      const lasts = world.isCalm() ? 5000 : (world.matchMs?.() ?? 5000 + random() * 30_000)
      playing.set(id, { status, players: new Map(), openAt: now() + random() * 1500, overAt: now() + lasts })
    }
    if (orders.want === 'stop') end(`stop ${orders.reason ?? ''}`)
  }

  /** The request in flight, and its deadline. */
  let request: { readonly until: number } | undefined

  /** Sends one request. The request and its response may be lost, repeated or late. */
  const send = (call: (servers: ServerCalls) => Promise<() => void>) => {
    const isFaulty = !world.isCalm() && chance(random, 0.15)
    const fault = isFaulty ? oneOf(random, 'lost', 'unanswered', 'twice', 'late') : 'none'
    const once = async (): Promise<() => void> => {
      const servers = world.servers()
      if (servers === undefined) return () => {}
      try {
        return await call(servers)
      } catch (error) {
        if (error instanceof ServerGone) return () => end('gone')
        if (error instanceof InvalidInput && !isLiar)
          world.broken(`${name}: an honest report was refused: ${error.message}`)
        return () => {
          if (error instanceof Error && error.name === 'ServerNotRegistered') isRegistered = false
        }
      }
    }
    if (fault === 'lost') return
    if (fault === 'late') return world.later(now() + random() * 8000, () => void once())
    if (fault === 'twice') void once()
    const own = { until: now() + REQUEST_MS }
    request = own
    void once().then((answer) => {
      if (request !== own || isOver) return
      request = undefined
      if (fault !== 'unanswered') answer()
    })
  }

  const registered = (answer: Registered) => {
    isRegistered = true
    joinKey = { alg: answer.alg, server: answer.id, key: Buffer.from(answer.key, 'base64url') }
    obey(answer)
  }
  const register = () =>
    send(async (servers) => {
      const answer = servers.registerServer(token, { instance, deployment: requestId, matches: capacity })
      return () => registered(answer)
    })
  const enrol = (key: string) =>
    send(async (servers) => {
      const address = { host: '203.0.113.7', ports: { game: { port: 7777, protocol: 'UDP' as const } } }
      const request = { instance, matches: capacity, build: '1', name: requestId, address }
      const answer = await servers.enrolServer?.(key, request)
      return () => {
        if (answer === undefined) return
        token = answer.token
        handle = answer.id
        registered(answer)
      }
    })

  const lie = (matches: Reported) => {
    const ids = [...playing.keys()]
    for (const id of ids) world.excuse(id)
    return oneOf<() => Reported>(
      random,
      () => [],
      () => [...matches, { id: 'no-such-match', status: 'open', players: { eve: 'in' } }],
      () => ids.map((id) => ({ id, status: 'over', players: { eve: 'in' }, result: { ranking: [['eve']] } })),
      () => ids.map((id) => ({ id, status: 'open', players: { p1: 'left', p2: 'in', p3: 'left', p4: 'left' } })),
      () => ids.map((id) => ({ id, status: 'open', players: {}, seats: { open: chance(random, 0.5) } })),
    )()
  }

  const report = () => {
    const matches: Reported = [...playing].map(([id, { status, players }]) => {
      if (status === 'over' || status === 'refused' || [...players.values()].every((one) => one === 'left'))
        if (players.size > 0 || status !== 'open') world.excuse(id)
      return {
        id,
        status,
        players: Object.fromEntries(players),
        ...(status === 'over' && { result: { ranking: [...players.keys()].map((one) => [one]) } }),
      }
    })
    seq += 1
    const state = {
      instance,
      seq,
      healthy: world.isCalm() || !chance(random, 0.03),
      draining: !world.isCalm() && chance(random, 0.01),
      matches: isLiar && !world.isCalm() && chance(random, 0.2) ? lie(matches) : matches,
    }
    send(async (servers) => {
      const orders = await servers.reportServer(token, state)
      return () => {
        // Muster ignores the reports of a replaced process.
        if (orders.reason !== 'replaced') world.acknowledged?.(state, handle)
        obey(orders)
      }
    })
  }

  /**
   * Returns the claims of a join token. Undefined if the signature is invalid. Expired tokens count as valid (time 0).
   */
  const claimsIn = (join: string) => {
    try {
      return joinKey && readJoinToken(join, joinKey, 0)
    } catch {
      return undefined
    }
  }

  return {
    requestId,
    get token() {
      return token
    },
    instance,
    handle: () => handle,
    step: () => {
      if (isOver) return
      for (const one of playing.values()) {
        if (one.status === 'loading' && now() >= one.openAt) one.status = 'open'
        if (one.status === 'open' && now() >= one.overAt) one.status = 'over'
      }
      if (now() < silentUntil || now() < (request?.until ?? 0)) return
      if (isRegistered) report()
      else if (enrolmentKey !== undefined && token === '') enrol(enrolmentKey)
      else register()
    },
    connect: (playerId, join) => {
      const claims = isOver ? undefined : claimsIn(join)
      if (claims === undefined) return
      // A player who has left a match does not return to it.
      if (!world.left.has(`${claims.mid} ${playerId}`)) playing.get(claims.mid)?.players.set(playerId, 'in')
    },
    come: (playerId, matchId) => {
      if (!isOver && !world.left.has(`${matchId} ${playerId}`)) playing.get(matchId)?.players.set(playerId, 'in')
    },
    leave: (playerId) => {
      for (const [matchId, { players }] of playing) {
        if (!players.has(playerId)) continue
        players.set(playerId, 'left')
        world.left.add(`${matchId} ${playerId}`)
      }
    },
    silence: (untilMs) => {
      silentUntil = untilMs
    },
    end: () => {
      isOver = true
      playing.clear()
    },
    hasEnded: () => isOver,
    admits: (join) => claimsIn(join) !== undefined,
    matches: () => [...playing.keys()],
  }
}
