import { playAlone } from './alone.js'
import { type Clock, dateOf, systemClock, systemRandom } from './clock.js'
import {
  deploymentIn,
  enrolmentIn,
  type Environment,
  localMatch,
  matchIn,
  portsIn,
  type ServerPort,
} from './environment.js'
import { InvalidCall, JoinRefused } from './errors.js'
import { type JoinClaims, type JoinKey, joinKeyOf, readJoinToken, signJoinToken } from './join-token.js'
import { createListing, type Listing, type SessionWanted } from './listing.js'
import { createReporting, type Reporting } from './reporting.js'
import { type Match, type Player, type ServedMatch, serveMatch } from './served-match.js'
import { obeyVerifier } from './verify.js'
import type { Orders, State } from './wire.js'

export interface GameServerOptions {
  /** The variables by which Muster has started this process. Default: `process.env`. */
  readonly env?: Environment | undefined
  /** The build of the game; players of another one get no seat. */
  readonly build?: string | undefined
  /** Matches that it serves at a time, 1 to 64. Default 1. */
  readonly matches?: number | undefined
  /** What it says of itself when it registers, such as its map. */
  readonly attributes?: Readonly<Record<string, string | number | boolean>> | undefined
  /** Asked before each report. `false` three times in a row, or an error: the server is drained and replaced. */
  readonly health?: (() => boolean | Promise<boolean>) | undefined
  /** Whether SIGTERM and SIGINT drain the server. Default true. */
  readonly handleSignals?: boolean | undefined
  /** Milliseconds that `stop` has after a signal. Default 25,000: the service kills after 30 s. */
  readonly graceMs?: number | undefined
  /** Where problems go, such as 'Muster does not answer'. Default: `process.emitWarning`, each once a minute. */
  readonly onProblem?: ((error: Error) => void) | undefined
  /** For tests. */
  readonly clock?: Clock | undefined
  readonly random?: (() => number) | undefined
  readonly fetch?: typeof fetch | undefined
}

/** What the game does when Muster wants something. An error of a handler is a problem, and ends nothing else. */
export interface ServeHandlers {
  /** A match is to be played. Once this resolves, players are sent here; if it rejects, the match goes elsewhere. */
  readonly match?: ((match: Match) => void | Promise<void>) | undefined
  /** Players have come to a match by `match.seats`. */
  readonly joined?: ((match: Match, players: readonly Player[]) => void) | undefined
  /** Players have had a session started here. Return how it is listed; `name`, `password` and so on are taken over. */
  readonly host?: ((wanted: SessionWanted) => Listing) | undefined
  /** No match comes any more. Those that are played go on to their end. */
  readonly draining?: ((reason: string) => void) | undefined
  /** The process is to end. It is killed after `until`. */
  readonly stop?: ((reason: string, until: Date) => void | Promise<void>) | undefined
}

/** What a server is doing: docs/servers.md, The states of a server. */
export type ServerStatus = 'STARTING' | 'IDLE' | 'TAKEN' | 'PLAYING' | 'DRAINING' | 'STOPPING'

export interface GameServer {
  /** Where it runs: with Muster, for one match that its environment describes, or alone on a developer's machine. */
  readonly mode: 'muster' | 'environment' | 'local'
  readonly status: ServerStatus
  /** The ports of the deployment, or of MUSTER_SERVER_PORTS, by name; empty where there is none. */
  readonly ports: Readonly<Record<string, ServerPort>>
  /** Matches that are being served, by id. */
  readonly matches: ReadonlyMap<string, Match>
  /**
   * Assets are loaded: from now on matches may come. Resolves when the process is to end, and `stop` has resolved.
   * @throws {Error} if it is called twice
   */
  serve(handlers: ServeHandlers): Promise<void>
  /**
   * Lets in the player who sent this join token. Waits up to 2 s for a seat that Muster has given a moment ago. Each
   * token lets in once, and again after `left` with a time to return. A fresh one, as after a reload, always does: drop
   * the player's earlier connection then.
   * @throws {JoinRefused}
   */
  admit(token: string): Promise<Player>
  /** A player has left, or of a match never came: their seat is free for others, at once or after `mayReturnMs`. */
  left(playerId: string, options?: { readonly mayReturnMs?: number | undefined }): void
  /** Lists the server for players, as a level; undefined: not any more. @throws {InvalidCall} */
  list(listing: Listing | undefined): void
  /**
   * Hand it each datagram that comes to the game's socket. Returns whether it is a knock of Muster, and so not for the
   * game. Needed where the key has `knock` by UDP: docs/own-machines.md.
   */
  knocked(datagram: Uint8Array): boolean
  /** Takes no match any more, and ends after those that it has. Resolves as `serve` does. */
  shutdown(): Promise<void>
}

/** Milliseconds for which a seat that is not known yet is waited for. */
const SEAT_MS = 2000
const HEALTH_MS = 5000
/** Milliseconds for which the last report is waited for, after a signal. */
const LAST_WORD_MS = 2000
const REPEATED_MS = 60_000
/** How each knock of Muster begins, and its bytes. */
const KNOCK = 'muster-knock-'
const KNOCK_BYTES = 43

/**
 * A game server, by the environment in which it runs. With MUSTER_URL and MUSTER_SERVER_TOKEN it reports to Muster.
 * With MUSTER_URL and MUSTER_ENROL_KEY it adds itself to a pool first: docs/own-machines.md.
 * With MM_MATCH_ID alone it plays that match. With neither it plays one match of MUSTER_LOCAL_PLAYERS (`ann,ben` by
 * default) and prints their join tokens.
 * @throws {InvalidCall}
 */
export function createGameServer(options: GameServerOptions = {}): GameServer {
  const { env = process.env, build, matches: most = 1, attributes, health = () => true, clock = systemClock } = options
  const { random = systemRandom, fetch: send = fetch, graceMs = 25_000, handleSignals = true } = options
  if (!Number.isInteger(most) || most < 1 || most > 64) throw new InvalidCall('matches', `must be 1 to 64, got ${most}`)
  const url = env['MUSTER_URL'] || undefined
  const token = env['MUSTER_SERVER_TOKEN'] || undefined
  const problem = options.onProblem ?? warnings(clock)

  const served = new Map<string, ServedMatch>()
  const ending = new AbortController()
  let handlers: ServeHandlers | undefined
  let done: Promise<void> | undefined
  let isDraining = false
  let isStopping = false
  let isRegistered = false
  /** By how much Muster's clock is ahead of ours; undefined until it has answered. */
  let aheadMs: number | undefined
  const dateNow = () => (aheadMs === undefined ? dateOf(clock) : clock.now() + aheadMs)
  /** How the knock begins that Muster awaits to be repeated, and the knock. */
  let awaited: string | undefined
  let knock: string | undefined
  /** Resolve when orders have come. */
  const heard: (() => void)[] = []

  const listing = createListing(clock, () => void reporting.changed())

  const state = async (): Promise<State> => ({
    healthy: await isHealthy(),
    draining: isDraining,
    matches: [...served.values()].map((one) => one.report()),
    ...(attributes && { attributes }),
    ...(listing.report() && { listing: listing.report() }),
    ...(knock !== undefined && { knock }),
  })
  const isHealthy = async () => {
    const timeout = new AbortController()
    const late = clock.sleep(HEALTH_MS, timeout.signal).then(
      () => false,
      () => false,
    )
    try {
      return (await Promise.race([health(), late])) !== false
    } catch (error) {
      problem(asError(error))
      return false
    } finally {
      timeout.abort()
    }
  }

  const begin = async (one: ServedMatch) => {
    try {
      await handlers?.match?.(one.match)
      if (one.status === 'loading') one.status = 'open'
    } catch (error) {
      problem(asError(error))
      if (one.status !== 'over') one.status = 'refused'
    }
    if (served.get(one.match.id) === one) void reporting.changed()
  }

  const tell = (act: () => void) => {
    try {
      act()
    } catch (error) {
      problem(asError(error))
    }
  }

  const obey = (orders: Orders) => {
    awaited = orders.knock ?? undefined
    if (awaited === undefined) knock = undefined
    const wanted = new Set(orders.matches.map(({ id }) => id))
    for (const [id, one] of served) {
      if (wanted.has(id)) continue
      served.delete(id)
      one.end(one.status === 'over' ? 'The match is over.' : 'Muster has ended the match.')
    }
    for (const order of orders.matches) {
      const one = served.get(order.id)
      if (one === undefined) {
        const begun = serveMatch(order, clock, () => reporting.changed())
        served.set(order.id, begun)
        if (isStopping) begun.status = 'refused'
        else void begin(begun)
      } else {
        const joined = one.update(order)
        if (joined.length > 0) tell(() => handlers?.joined?.(one.match, joined))
      }
    }
    listing.hear(orders.listing)
    const { host } = orders
    if (host !== undefined && listing.want(host))
      tell(() => {
        const { name, password, attributes: given } = host
        const listed = handlers?.host?.(host)
        if (listed !== undefined)
          listing.set({ ...listed, name, password, attributes: { ...listed.attributes, ...given } })
      })
    if (orders.want === 'drain') drain(orders.reason ?? 'wanted')
    for (const resolve of heard.splice(0)) resolve()
    if (orders.want === 'stop') void stop(orders.reason ?? 'not wanted any more')
  }

  const drain = (reason: string) => {
    if (isDraining) return
    isDraining = true
    tell(() => handlers?.draining?.(reason))
    void reporting.changed()
  }

  /** @param isOwnWish Muster has yet to hear of it */
  const stop = async (reason: string, isOwnWish = false) => {
    if (isStopping) return
    isStopping = true
    for (const one of served.values()) one.end(`The server is to end: ${reason}.`)
    const timeout = new AbortController()
    try {
      await Promise.race([
        handlers?.stop?.(reason, new Date(dateOf(clock) + graceMs)),
        clock.sleep(graceMs, timeout.signal).catch(() => {}),
      ])
    } catch (error) {
      problem(asError(error))
    }
    timeout.abort()
    if (isOwnWish) {
      const late = new AbortController()
      await Promise.race([reporting.changed(), clock.sleep(LAST_WORD_MS, late.signal).catch(() => {})])
      late.abort()
    }
    ending.abort()
  }

  const signalled = (name: string) => {
    drain(name)
    void stop(name, true)
  }

  // One that Muster has started has a token.
  const enrolment = token === undefined ? enrolmentIn(env) : undefined
  const ports = enrolment?.ports ?? portsIn(env)
  const where = enrolment === undefined ? { deployment: deploymentIn(env), ports: internalPorts(ports) } : {}
  const self = enrolment && { name: enrolment.name, address: enrolment.address }
  const registration = { build, matches: most, attributes, ...where, ...self }
  const secret = token ?? enrolment?.key
  const localKey = crypto.getRandomValues(new Uint8Array(32))
  const own = matchIn(env)
  const mode = url !== undefined && secret !== undefined ? 'muster' : own === undefined ? 'local' : 'environment'
  let key: JoinKey | undefined =
    mode === 'environment' && token !== undefined
      ? { alg: 'HS256', key: joinKeyOf(token), server: undefined }
      : mode === 'local'
        ? { alg: 'HS256', key: localKey, server: 'local' }
        : undefined
  const reporting: Reporting =
    url !== undefined && secret !== undefined
      ? createReporting({
          url,
          token,
          enrolmentKey: enrolment?.key,
          registration,
          clock,
          random,
          fetch: send,
          state,
          obey,
          problem,
          registered: (answer) => {
            isRegistered = true
            key = { alg: answer.alg, key: Buffer.from(answer.key, 'base64url'), server: answer.id }
          },
          gone: (reason) => void stop(reason),
          clockDiffers: (by) => (aheadMs = by),
        })
      : playAlone({
          match: own ?? localMatch(env['MUSTER_LOCAL_PLAYERS'] ?? 'ann,ben'),
          env,
          clock,
          fetch: send,
          state,
          obey,
          problem,
        })

  /** Where the player of a token has a place: in a match that is not over, or on the listed server. */
  const placeOf = (claims: JoinClaims) => {
    const one = served.get(claims.mid)
    if (one?.status === 'over' || isStopping) return {}
    if (one !== undefined) return { player: one.playerOf(claims), attendance: one.attendance }
    return { player: listing.playerOf(claims), attendance: listing.attendance }
  }

  /** `muster verify-server` stands in for players, and ends matches. */
  const beVerified = (verifyUrl: string) => {
    const over = (id: string) => {
      const match = served.get(id)?.match
      void match?.over({ ranking: [[...match.players.keys()]] })
    }
    void obeyVerifier({ url: verifyUrl, clock, fetch: send, signal: ending.signal, server, over })
  }

  const server: GameServer = {
    mode,
    get status() {
      if (isStopping) return 'STOPPING'
      if (isDraining) return 'DRAINING'
      if ([...served.values()].some((one) => one.status === 'open') || listing.report() !== undefined) return 'PLAYING'
      if (served.size > 0) return 'TAKEN'
      return isRegistered || (mode !== 'muster' && handlers !== undefined) ? 'IDLE' : 'STARTING'
    },
    ports,
    get matches() {
      return new Map([...served].map(([id, { match }]) => [id, match]))
    },
    serve: (given) => {
      if (done !== undefined) throw new Error('serve was called before: a process serves once.')
      handlers = given
      const onTerm = () => signalled('SIGTERM')
      const onInt = () => signalled('SIGINT')
      if (handleSignals) process.once('SIGTERM', onTerm).once('SIGINT', onInt)
      if (mode === 'local') printTokens(localKey, env, clock)
      if (mode === 'muster' && env['MUSTER_VERIFY_URL'] !== undefined) beVerified(env['MUSTER_VERIFY_URL'])
      done = reporting.run(ending.signal).finally(() => {
        process.off('SIGTERM', onTerm).off('SIGINT', onInt)
        for (const one of served.values()) one.end('The server has ended.')
        listing.attendance.close()
      })
      return done
    },
    admit: async (given) => {
      const until = clock.now() + SEAT_MS
      for (;;) {
        const claims = key && readJoinToken(given, key, dateNow())
        const { player, attendance } = claims === undefined ? {} : placeOf(claims)
        if (claims !== undefined && player !== undefined && attendance !== undefined) {
          attendance.enter(claims)
          return player
        }
        const leftMs = until - clock.now()
        if (leftMs <= 0 || isStopping) throw new JoinRefused('other-match')
        const waiting = new AbortController()
        await Promise.race([
          new Promise<void>((resolve) => heard.push(resolve)),
          clock.sleep(leftMs, waiting.signal).catch(() => {}),
        ])
        waiting.abort()
      }
    },
    left: (playerId, { mayReturnMs = 0 } = {}) => {
      for (const { match, attendance } of served.values())
        if (match.players.has(playerId)) attendance.leave(playerId, mayReturnMs)
      if (listing.attendance.has(playerId)) listing.attendance.leave(playerId, mayReturnMs)
    },
    list: listing.set,
    knocked: (datagram) => {
      if (datagram.length !== KNOCK_BYTES) return false
      const text = Buffer.from(datagram).toString('latin1')
      if (!text.startsWith(KNOCK)) return false
      // Anybody can send one that begins otherwise.
      if (awaited !== undefined && text.startsWith(awaited) && text !== knock) {
        knock = text
        void reporting.changed()
      }
      return true
    },
    shutdown: () => {
      drain('own wish')
      return done ?? Promise.resolve()
    },
  }
  return server
}

const asError = (thrown: unknown) => (thrown instanceof Error ? thrown : new Error(String(thrown)))

const internalPorts = (ports: Readonly<Record<string, ServerPort>>) =>
  Object.keys(ports).length === 0
    ? undefined
    : Object.fromEntries(Object.entries(ports).map(([name, { internal }]) => [name, internal]))

/** Each sentence once a minute. */
function warnings(clock: Clock): (error: Error) => void {
  const said = new Map<string, number>()
  return (error) => {
    const now = clock.now()
    if (now - (said.get(error.message) ?? -Infinity) < REPEATED_MS) return
    if (said.size > 100) said.clear()
    said.set(error.message, now)
    process.emitWarning(error.message, 'Muster')
  }
}

/** A developer pastes them into the clients. */
function printTokens(key: Uint8Array, env: Environment, clock: Clock): void {
  const { id: mid, teams } = localMatch(env['MUSTER_LOCAL_PLAYERS'] ?? 'ann,ben')
  const lines = teams.flatMap(({ name, players }) =>
    players.map(({ id, ticket_id: sid }) => {
      const claims = { aud: 'local', sub: id, mid, sid, ...(name !== '' && { team: name }) }
      return `  ${id}: ${signJoinToken(claims, key, dateOf(clock))}\n`
    }),
  )
  process.stdout.write(`Without MUSTER_URL this server runs alone. Join tokens, for five minutes:\n${lines.join('')}`)
}
