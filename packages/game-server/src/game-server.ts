import { localMatchIn, playAlone, printTokens, whyAlone } from './alone.js'
import { type Clock, dateOf, systemClock, systemRandom } from './clock.js'
import { deploymentIn, enrolmentIn, type Environment, matchIn, portsIn, type ServerPort } from './environment.js'
import { InvalidCall, JoinRefused } from './errors.js'
import { type JoinClaims, type JoinKey, joinKeyOf, readJoinToken } from './join-token.js'
import { Knocks } from './knocks.js'
import { checkAttributes, createListing, type Listing, type SessionWanted } from './listing.js'
import { createReporting, type Reporting } from './reporting.js'
import { type Match, type Player, type ServedMatch, serveMatch } from './served-match.js'
import { runVerifierCommands } from './verifier-commands.js'
import type { Orders, ServerStateBody } from './wire.js'

export interface GameServerOptions {
  /** The environment variables. Default: `process.env`. */
  readonly env?: Environment | undefined
  /** The build of the game, 1 to 128 characters. Players of other builds get no seat. */
  readonly build?: string | undefined
  /** Maximum number of concurrent matches, 1 to 64. Default 1. */
  readonly matches?: number | undefined
  /** Attributes of the server that are sent with its registration, e.g. the map. */
  readonly attributes?: Readonly<Record<string, string | number | boolean>> | undefined
  /**
   * Called before each report. Returns true if the server is healthy. After three times false or an error in a row, the
   * server is drained and replaced.
   */
  readonly health?: (() => boolean | Promise<boolean>) | undefined
  /** True: SIGTERM and SIGINT drain the server. Default true. */
  readonly handleSignals?: boolean | undefined
  /**
   * Milliseconds that the handler `stop` has after a signal. Default 25,000, because the service kills the process
   * after 30 s.
   */
  readonly graceMs?: number | undefined
  /**
   * Called with problems, e.g. 'Muster does not answer'. Default: `process.emitWarning`, at most once a minute for each
   * problem.
   */
  readonly onProblem?: ((error: Error) => void) | undefined
  /** Replacements for tests. */
  readonly clock?: Clock | undefined
  readonly random?: (() => number) | undefined
  readonly fetch?: typeof fetch | undefined
}

/**
 * The game's handlers for Muster's orders. If a handler throws, the error is reported as a problem, and the server
 * continues.
 */
export interface ServeHandlers {
  /**
   * Prepares a match. Once it resolves, players are sent to this server. If it rejects, another server gets the match.
   */
  readonly match?: ((match: Match) => void | Promise<void>) | undefined
  /** Called with players who have joined a running match through `match.seats`. */
  readonly joined?: ((match: Match, players: readonly Player[]) => void) | undefined
  /**
   * Called when players have requested a session on this server. Returns the listing of the session. Its `name`,
   * `password` and other requested fields come from the request.
   */
  readonly host?: ((wanted: SessionWanted) => Listing) | undefined
  /** Called once when Muster will send no further match. Running matches continue to their end. */
  readonly draining?: ((reason: string) => void) | undefined
  /** Called when the process must end. The process is killed at `until`. */
  readonly stop?: ((reason: string, until: Date) => void | Promise<void>) | undefined
}

/** The state of a server: see docs/servers.md, The states of a server. */
export type ServerStatus = 'STARTING' | 'IDLE' | 'TAKEN' | 'PLAYING' | 'DRAINING' | 'STOPPING'

export interface GameServer {
  /**
   * How the server runs: with Muster, for one match that its environment describes, or locally on a developer's
   * machine.
   */
  readonly mode: 'muster' | 'environment' | 'local'
  readonly status: ServerStatus
  /** The ports by name: those of the deployment, or of MUSTER_SERVER_PORTS. Empty if there are none. */
  readonly ports: Readonly<Record<string, ServerPort>>
  /** The running matches, by id. */
  readonly matches: ReadonlyMap<string, Match>
  /**
   * Tells Muster that the server is ready. Call it once assets are loaded, because matches may come afterwards.
   * Resolves when the process should end and the handler `stop` has resolved.
   * @throws {Error} if it is called twice
   */
  serve(handlers: ServeHandlers): Promise<void>
  /**
   * Admits the player who sent this join token. Waits up to 2 s for a seat that Muster has just assigned. Each token
   * works once, and again after `left` with a time to return. A newer token, e.g. after a reload, always works: close
   * the player's earlier connection then.
   * @throws {JoinRefused}
   */
  admit(token: string): Promise<Player>
  /**
   * Records that a player has left, or never came to a match. The seat becomes free at once, or after `mayReturnMs`
   * milliseconds.
   */
  left(playerId: string, options?: { readonly mayReturnMs?: number | undefined }): void
  /** Sets how the server is listed for players. Undefined: the server is no longer listed. @throws {InvalidCall} */
  list(listing: Listing | undefined): void
  /**
   * Call it with each datagram that the game's socket receives. Returns true for a knock of Muster, a datagram that
   * tests the socket; the game should ignore it. Required if the enrolment key has `knock` by UDP: see
   * docs/own-machines.md.
   */
  knocked(datagram: Uint8Array): boolean
  /** Accepts no further match, and ends after the running ones. Resolves when `serve` resolves. */
  shutdown(): Promise<void>
}

/** Maximum milliseconds for which `admit` waits for a seat that is not known yet. */
const SEAT_MS = 2000
const HEALTH_MS = 5000
/** Maximum milliseconds for which the process waits for its last report after a signal. */
const LAST_WORD_MS = 2000
const REPEATED_MS = 60_000
/** Maximum length of a build, as in Muster's `RegistrationBody`. */
const LONGEST_BUILD = 128

/**
 * Creates a game server. The environment decides its mode. With MUSTER_URL and MUSTER_SERVER_TOKEN, it reports to
 * Muster. With MUSTER_URL and MUSTER_ENROL_KEY, it first adds itself to a pool (docs/own-machines.md). With only
 * MM_MATCH_ID, it plays that match. With none of these, it plays one match of MUSTER_LOCAL_PLAYERS (`ann,ben` by
 * default) and prints their join tokens.
 * @throws {InvalidCall}
 */
export function createGameServer(options: GameServerOptions = {}): GameServer {
  const server = new GameProcess(options)
  return {
    mode: server.mode,
    get status() {
      return server.status()
    },
    ports: server.ports,
    get matches() {
      return server.matches()
    },
    serve: (handlers) => server.serve(handlers),
    admit: (token) => server.admit(token),
    left: (playerId, leaving) => server.left(playerId, leaving),
    list: (listing) => server.listing.set(listing),
    knocked: (datagram) => server.knocks.receive(datagram),
    shutdown: () => server.shutdown(),
  }
}

/** Serves matches in this process, and executes Muster's orders. */
class GameProcess {
  readonly mode: GameServer['mode']
  readonly ports: GameServer['ports']
  readonly listing: ReturnType<typeof createListing>
  readonly knocks: Knocks
  readonly #options: GameServerOptions
  readonly #env: Environment
  readonly #clock: Clock
  readonly #problem: (error: Error) => void
  readonly #reporting: Reporting
  readonly #served = new Map<string, ServedMatch>()
  readonly #ending = new AbortController()
  #handlers: ServeHandlers | undefined
  #done: Promise<void> | undefined
  #isDraining = false
  #isStopping = false
  #isRegistered = false
  #key: JoinKey | undefined
  /** Milliseconds by which Muster's clock is ahead of this machine's clock. Undefined before the first response. */
  #aheadMs: number | undefined
  /** Functions to call when orders have arrived. */
  readonly #heard: (() => void)[] = []

  constructor(options: GameServerOptions) {
    const { env = process.env, build, matches = 1, attributes, clock = systemClock } = options
    if (!Number.isInteger(matches) || matches < 1 || matches > 64)
      throw new InvalidCall('matches', `must be 1 to 64, got ${matches}`)
    if (build !== undefined && !(typeof build === 'string' && build !== '' && build.length <= LONGEST_BUILD))
      throw new InvalidCall('build', `must have 1 to ${LONGEST_BUILD} characters, got ${JSON.stringify(build)}`)
    checkAttributes('attributes', attributes)
    const problem = careful(options.onProblem, warnings(clock))
    // A copy, so that later changes of the caller's objects have no effect.
    this.#options = { ...options, attributes: attributes && { ...attributes } }
    this.#env = env
    this.#clock = clock
    this.#problem = problem
    this.listing = createListing(clock, () => this.#changed())
    this.knocks = new Knocks(() => this.#changed())

    const url = env['MUSTER_URL'] || undefined
    const token = env['MUSTER_SERVER_TOKEN'] || undefined
    // A process that Muster has started has a token, so it does not enrol.
    const enrolment = token === undefined ? enrolmentIn(env) : undefined
    this.ports = enrolment?.ports ?? portsIn(env)
    const state = () => this.#state()
    const applyOrders = (orders: Orders) => this.#applyOrders(orders)
    const common = { clock, fetch: options.fetch ?? fetch, state, applyOrders, problem }
    if (url !== undefined && (token !== undefined || enrolment !== undefined)) {
      this.mode = 'muster'
      const where =
        enrolment === undefined
          ? { deployment: deploymentIn(env), ports: internalPorts(this.ports) }
          : { name: enrolment.name, address: enrolment.address }
      this.#reporting = createReporting({
        ...common,
        url,
        token,
        enrolmentKey: enrolment?.key,
        registration: { build, matches, attributes: this.#options.attributes, ...where },
        random: options.random ?? systemRandom,
        registered: (answer) => {
          this.#isRegistered = true
          this.#key = { alg: answer.alg, key: Buffer.from(answer.key, 'base64url'), server: answer.id }
        },
        gone: (reason) => void this.#stop(reason),
        clockDiffers: (by) => (this.#aheadMs = by),
      })
      return
    }
    const match = matchIn(env)
    this.mode = match === undefined ? 'local' : 'environment'
    if (match === undefined)
      this.#key = { alg: 'HS256', key: crypto.getRandomValues(new Uint8Array(32)), server: 'local' }
    else if (token !== undefined) this.#key = { alg: 'HS256', key: joinKeyOf(token), server: undefined }
    this.#reporting = playAlone({ ...common, match: match ?? localMatchIn(env), env })
  }

  status(): ServerStatus {
    if (this.#isStopping) return 'STOPPING'
    if (this.#isDraining) return 'DRAINING'
    const isPlaying = [...this.#served.values()].some((one) => one.status === 'open')
    if (isPlaying || this.listing.report() !== undefined) return 'PLAYING'
    if (this.#served.size > 0) return 'TAKEN'
    return this.#isRegistered || (this.mode !== 'muster' && this.#handlers !== undefined) ? 'IDLE' : 'STARTING'
  }
  matches(): ReadonlyMap<string, Match> {
    return new Map([...this.#served].map(([id, { match }]) => [id, match]))
  }

  serve(handlers: ServeHandlers): Promise<void> {
    if (this.#done !== undefined) throw new Error('serve() was already called. A process can serve only once.')
    this.#handlers = handlers
    const onTerm = () => this.#signalled('SIGTERM')
    const onInt = () => this.#signalled('SIGINT')
    if (this.#options.handleSignals ?? true) process.once('SIGTERM', onTerm).once('SIGINT', onInt)
    if (this.mode === 'local' && this.#key !== undefined) {
      const why = whyAlone(this.#env)
      if (why !== undefined) this.#problem(new Error(why))
      printTokens(this.#key.key, this.#env, this.#clock)
    }
    const verifyUrl = this.#env['MUSTER_VERIFY_URL']
    if (this.mode === 'muster' && verifyUrl !== undefined) this.#beVerified(verifyUrl)
    this.#done = this.#reporting.run(this.#ending.signal).finally(() => {
      process.off('SIGTERM', onTerm).off('SIGINT', onInt)
      for (const one of this.#served.values()) one.end('The server has ended.')
      this.listing.attendance.close()
    })
    return this.#done
  }
  shutdown(): Promise<void> {
    this.#drain('own wish')
    return this.#done ?? Promise.resolve()
  }

  async admit(token: string): Promise<Player> {
    const until = this.#clock.now() + SEAT_MS
    for (;;) {
      const claims = this.#key && readJoinToken(token, this.#key, this.#dateNow())
      const { player, attendance } = claims === undefined ? {} : this.#placeOf(claims)
      if (claims !== undefined && player !== undefined && attendance !== undefined) {
        attendance.enter(claims)
        return player
      }
      const leftMs = until - this.#clock.now()
      if (leftMs <= 0 || this.#isStopping) throw new JoinRefused('other-match')
      await within(leftMs, this.#clock, new Promise<void>((resolve) => this.#heard.push(resolve)))
    }
  }
  /** Returns the match or the listing in which the player of a token has a seat. Matches that are over are omitted. */
  #placeOf(claims: JoinClaims) {
    const one = this.#served.get(claims.mid)
    if (one?.status === 'over' || this.#isStopping) return {}
    if (one !== undefined) return { player: one.playerOf(claims), attendance: one.attendance }
    return { player: this.listing.playerOf(claims), attendance: this.listing.attendance }
  }
  #dateNow(): number {
    return this.#aheadMs === undefined ? dateOf(this.#clock) : this.#clock.now() + this.#aheadMs
  }
  left(playerId: string, { mayReturnMs = 0 }: { readonly mayReturnMs?: number | undefined } = {}): void {
    for (const { match, attendance } of this.#served.values())
      if (match.players.has(playerId)) attendance.leave(playerId, mayReturnMs)
    const { attendance } = this.listing
    if (attendance.has(playerId)) attendance.leave(playerId, mayReturnMs)
  }

  /** Call it when there is something to report. */
  #changed(): void {
    void this.#reporting.changed()
  }
  async #state(): Promise<ServerStateBody> {
    const { attributes } = this.#options
    const healthy = await this.#isHealthy()
    const listing = this.listing.report()
    const knock = this.knocks.latest()
    return {
      healthy,
      draining: this.#isDraining,
      matches: [...this.#served.values()].map((one) => one.report()),
      ...(attributes && { attributes }),
      ...(listing && { listing }),
      ...(knock !== undefined && { knock }),
    }
  }
  async #isHealthy(): Promise<boolean> {
    const { health = () => true } = this.#options
    try {
      const isHealthy = Promise.resolve(health()).then((answer) => answer !== false)
      return (await within(HEALTH_MS, this.#clock, isHealthy)) ?? false
    } catch (error) {
      this.#problem(asError(error))
      return false
    }
  }

  #applyOrders(orders: Orders): void {
    this.knocks.expect(orders.knock ?? undefined)
    this.#setMatches(orders.matches)
    this.listing.setOrders(orders.listing)
    if (orders.host && this.listing.openSession(orders.host)) this.#host(orders.host)
    if (orders.want === 'drain') this.#drain(orders.reason ?? 'wanted')
    for (const resolve of this.#heard.splice(0)) resolve()
    if (orders.want === 'stop') void this.#stop(orders.reason ?? 'no longer needed')
  }
  #setMatches(wanted: Orders['matches']): void {
    const ids = new Set(wanted.map(({ id }) => id))
    for (const [id, one] of this.#served) {
      if (ids.has(id)) continue
      this.#served.delete(id)
      one.end(one.status === 'over' ? 'The match is over.' : 'Muster has ended the match.')
    }
    for (const order of wanted) {
      const one = this.#served.get(order.id)
      if (one === undefined) {
        const begun = serveMatch(order, this.#clock, () => this.#reporting.changed())
        this.#served.set(order.id, begun)
        if (this.#isStopping) begun.status = 'refused'
        else void this.#begin(begun)
      } else {
        const joined = one.update(order)
        if (joined.length > 0) this.#call(() => this.#handlers?.joined?.(one.match, joined))
      }
    }
  }
  async #begin(one: ServedMatch): Promise<void> {
    let status: 'open' | 'refused' = 'open'
    try {
      await this.#handlers?.match?.(one.match)
    } catch (error) {
      this.#problem(asError(error))
      status = 'refused'
    }
    if (one.status !== 'loading') return
    one.status = status
    if (this.#served.get(one.match.id) === one) this.#changed()
  }
  #host(wanted: SessionWanted): void {
    this.#call(() => {
      const { name, password, attributes } = wanted
      const listed = this.#handlers?.host?.(wanted)
      if (listed !== undefined)
        this.listing.set({ ...listed, name, password, attributes: { ...listed.attributes, ...attributes } })
    })
  }
  /** Calls a handler, and reports an error that it throws, or with which its promise rejects. */
  #call(handler: () => unknown): void {
    callSafely(handler, (error) => this.#problem(asError(error)))
  }

  #signalled(name: string): void {
    this.#drain(name)
    void this.#stop(name, true)
  }
  #drain(reason: string): void {
    if (this.#isDraining) return
    this.#isDraining = true
    this.#call(() => this.#handlers?.draining?.(reason))
    this.#changed()
  }
  /** Ends the process. @param isOwnWish true if the server itself decided, so that Muster does not know it yet */
  async #stop(reason: string, isOwnWish = false): Promise<void> {
    if (this.#isStopping) return
    this.#isStopping = true
    const { graceMs = 25_000 } = this.#options
    for (const one of this.#served.values()) {
      one.end(`The server is to end: ${reason}.`)
      // Its players get another server now, and need not wait for the handler `stop`.
      if (!isOwnWish || one.status !== 'loading') continue
      one.giveUp()
      this.#changed()
    }
    try {
      await within(graceMs, this.#clock, this.#handlers?.stop?.(reason, new Date(dateOf(this.#clock) + graceMs)))
    } catch (error) {
      this.#problem(asError(error))
    }
    if (isOwnWish) await within(LAST_WORD_MS, this.#clock, this.#lastWord())
    this.#ending.abort()
  }
  /** Reports that nobody plays on this server any more, so that Muster need not wait until it counts as lost. */
  #lastWord(): Promise<void> {
    if (this.mode === 'muster') {
      for (const one of this.#served.values()) one.giveUp()
      this.listing.set(undefined)
    }
    return this.#reporting.changed()
  }

  /** Executes the commands of `muster verify-server`, which act for players and end matches. */
  #beVerified(url: string): void {
    const over = (id: string) => {
      const match = this.#served.get(id)?.match
      void match?.over({ ranking: [[...match.players.keys()]] })
    }
    const { fetch: send = fetch } = this.#options
    void runVerifierCommands({ url, clock: this.#clock, fetch: send, signal: this.#ending.signal, server: this, over })
  }
}

/** Resolves with the promise's value; undefined if the promise has not resolved within `ms` milliseconds. */
async function within<T>(ms: number, clock: Clock, promise: T | Promise<T>): Promise<T | undefined> {
  const timer = new AbortController()
  const late = clock.sleep(ms, timer.signal).then(
    () => undefined,
    () => undefined,
  )
  try {
    return await Promise.race([promise, late])
  } finally {
    timer.abort()
  }
}

const asError = (thrown: unknown) => (thrown instanceof Error ? thrown : new Error(String(thrown)))

const internalPorts = (ports: Readonly<Record<string, ServerPort>>) =>
  Object.keys(ports).length === 0
    ? undefined
    : Object.fromEntries(Object.entries(ports).map(([name, { internal }]) => [name, internal]))

/**
 * Calls a function of the game.
 * @param failed called with the error that it throws, or with which its promise rejects
 */
function callSafely(called: () => unknown, failed: (error: unknown) => void): void {
  try {
    Promise.resolve(called()).catch(failed)
  } catch (error) {
    failed(error)
  }
}

/** Returns a function that calls `onProblem`. Without one, or if it fails, problems become warnings. */
function careful(onProblem: GameServerOptions['onProblem'], warn: (error: Error) => void): (error: Error) => void {
  if (onProblem === undefined) return warn
  return (problem) =>
    callSafely(
      () => onProblem(problem),
      (error) => warn(asError(error)),
    )
}

/** Emits each warning at most once a minute. */
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
