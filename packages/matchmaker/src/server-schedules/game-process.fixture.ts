import { InvalidInput } from '@muster/core'
import type { Random } from '@muster/core/clock'
import { readJoinToken } from '@muster/game-server/internal'
import { RegistrationBody, ReportBody, ServerGone, type ServerOrders } from '@muster/hosting/internal'
import type { Matchmaker } from '../matches/matchmaker.js'
import { chance, oneOf } from '../random-faults.fixture.js'

type PlayerStatus = 'in' | 'away' | 'left'

interface Playing {
  status: 'loading' | 'open' | 'over' | 'refused'
  readonly players: Map<string, PlayerStatus>
  readonly openAt: number
  readonly overAt: number
}

/** What the processes of game servers need of their world. Times are epoch milliseconds of the world's clock. */
export interface GameWorld {
  readonly random: Random
  readonly now: () => number
  /** Undefined while no process of ours runs. */
  readonly matchmaker: () => Matchmaker | undefined
  readonly isCalm: () => boolean
  /** The server to which the players of a match were sent; undefined: none. */
  readonly sentTo: (matchId: string) => string | undefined
  /** Something else than us has ended the match, or may have. */
  readonly excuse: (matchId: string) => void
  readonly isExcused: (matchId: string) => boolean
  /** Who has left which match: `<match> <player>`. */
  readonly left: Set<string>
  /** Whether two processes have run with the token of a deployment: one of them loses its match, which goes on. */
  readonly isDoubled: (requestId: string) => boolean
  readonly broken: (fault: string) => void
  readonly later: (atMs: number, act: () => void) => void
}

interface GameProcessOptions {
  readonly requestId: string
  readonly token: string
  /** Matches that it serves at a time. */
  readonly capacity: number
  readonly isLiar: boolean
  readonly refuses: boolean
  readonly nth: number
}

/** Milliseconds for which a process waits for an answer. */
const REQUEST_MS = 5000

/** The process of a game server, in a bad network. */
export interface GameProcess {
  readonly requestId: string
  readonly token: string
  readonly instance: string
  step(): void
  /** A player connects with a token, and is admitted or not. */
  connect(playerId: string, join: string): void
  leave(playerId: string): void
  silence(untilMs: number): void
  end(): void
  hasEnded(): boolean
  /** Whether the token is valid here. */
  admits(join: string): boolean
  /** The matches that it plays. */
  matches(): readonly string[]
}

export function createGameProcess(options: GameProcessOptions, world: GameWorld): GameProcess {
  const { requestId, token, capacity, isLiar, refuses, nth } = options
  const { random, now } = world
  const instance = `${requestId}-${nth}`
  const name = `${requestId}/${nth}`
  const playing = new Map<string, Playing>()
  let seq = 0
  let joinKey: Parameters<typeof readJoinToken>[1] | undefined
  let isRegistered = false
  let isOver = false
  let isReplaced = false
  let silentUntil = 0

  /** A match that people play here may not be taken away. */
  const lost = (matchId: string, one: Playing, why: string) => {
    if (one.status !== 'open' || isLiar || isReplaced || world.isExcused(matchId) || world.isDoubled(requestId)) return
    if (world.sentTo(matchId) !== requestId) return
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
      const lasts = world.isCalm() ? 5000 : 5000 + random() * 30_000
      playing.set(id, { status, players: new Map(), openAt: now() + random() * 1500, overAt: now() + lasts })
    }
    if (orders.want === 'stop') end(`stop ${orders.reason ?? ''}`)
  }

  /** The request under way, and the time at which the process waits for it no more. */
  let request: { readonly until: number } | undefined

  /** Does what a request does: it may be lost, repeated or late, and so may its answer. One at a time. */
  const send = (call: (matchmaker: Matchmaker) => Promise<() => void>) => {
    const isFaulty = !world.isCalm() && chance(random, 0.15)
    const fault = isFaulty ? oneOf(random, 'lost', 'unanswered', 'twice', 'late') : 'none'
    const once = async (): Promise<() => void> => {
      const matchmaker = world.matchmaker()
      if (matchmaker === undefined) return () => {}
      try {
        return await call(matchmaker)
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

  const register = () => {
    const registration = RegistrationBody.parse({ instance, deployment: requestId, matches: capacity })
    send(async (matchmaker) => {
      const answer = matchmaker.registerServer(token, registration)
      return () => {
        isRegistered = true
        joinKey = { alg: answer.alg, server: answer.id, key: Buffer.from(answer.key, 'base64url') }
        obey(answer)
      }
    })
  }

  const lie = (matches: unknown[]) => {
    const ids = [...playing.keys()]
    for (const id of ids) world.excuse(id)
    return oneOf<() => unknown[]>(
      random,
      () => [],
      () => [...matches, { id: 'no-such-match', status: 'open', players: { eve: 'in' } }],
      () => ids.map((id) => ({ id, status: 'over', players: { eve: 'in' }, result: { ranking: [['eve']] } })),
      () => ids.map((id) => ({ id, status: 'open', players: { p1: 'left', p2: 'in', p3: 'left', p4: 'left' } })),
      () => ids.map((id) => ({ id, status: 'open', players: {}, seats: { open: chance(random, 0.5) } })),
    )()
  }

  const report = () => {
    const matches: unknown[] = [...playing].map(([id, { status, players }]) => {
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
    const body = ReportBody.parse(state)
    send(async (matchmaker) => {
      const orders = await matchmaker.reportServer(token, body)
      return () => obey(orders)
    })
  }

  /** Undefined: the token is refused. At 1970, where none has expired. */
  const claimsIn = (join: string) => {
    try {
      return joinKey && readJoinToken(join, joinKey, 0)
    } catch {
      return undefined
    }
  }

  return {
    requestId,
    token,
    instance,
    step: () => {
      if (isOver) return
      for (const one of playing.values()) {
        if (one.status === 'loading' && now() >= one.openAt) one.status = 'open'
        if (one.status === 'open' && now() >= one.overAt) one.status = 'over'
      }
      if (now() < silentUntil || now() < (request?.until ?? 0)) return
      if (isRegistered) report()
      else register()
    },
    connect: (playerId, join) => {
      const claims = isOver ? undefined : claimsIn(join)
      if (claims === undefined) return
      // Who has left does not come back.
      if (!world.left.has(`${claims.mid} ${playerId}`)) playing.get(claims.mid)?.players.set(playerId, 'in')
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
