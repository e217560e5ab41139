import { Unavailable } from '../errors.js'
import type { ServerBrowser } from '../browser/index.js'
import type { GameServers, Registered } from '../game-servers/index.js'
import type { Server, ServerRegistration, ServerReport } from '../records/index.js'
import type { AllocatorContext } from './allocator-context.js'
import type { Enrolling } from './enrolling.js'
import type { ServerLifecycle } from './server-lifecycle.js'

/** The parts that handle servers' calls. */
interface CalledParts {
  readonly context: AllocatorContext
  readonly gameServers: GameServers
  readonly lifecycle: ServerLifecycle
  readonly enrolling: Enrolling
  readonly browser: ServerBrowser
  /** Returns the server with this token. Undefined for the token of an earlier attempt, or if the server is gone. */
  byToken(token: string): Server | undefined
  /** Called when the process of the server runs. */
  runs(server: Server): void
}

/** The calls of processes with a server's token. */
export class ServerCalls {
  readonly #parts: CalledParts
  readonly #sparesUnknown: () => boolean

  /** @param sparesUnknown returns true if unknown servers may become known again */
  constructor(parts: CalledParts, sparesUnknown: () => boolean) {
    this.#parts = parts
    this.#sparesUnknown = sparesUnknown
  }

  /** True if this is the secret of any server. Called before the match is known. */
  isServerSecret(secret: string): boolean {
    return this.#parts.context.keys.credentialIn(secret) !== undefined
  }
  /** True if the server of this match has the secret. */
  isSecretOf(serverId: string, token: string): boolean {
    return this.#parts.byToken(token)?.id === serverId
  }
  /** Records that the server of a match is ready for players. Returns false for an unknown match or a wrong secret. */
  serverReady(matchId: string, secret: string): boolean {
    const server = this.#parts.context.fleet.find(matchId)
    if (server === undefined || !this.isSecretOf(matchId, secret)) return false
    this.#parts.runs(server)
    return true
  }
  /**
   * Records that a player comes. The first expected player ends the time limit `joinBy`. Returns false for an unknown
   * match or a wrong secret.
   */
  playerCame(matchId: string, secret: string, playerId: string): boolean {
    const match = this.#parts.context.fleet.match(matchId)
    if (match === undefined || !this.isSecretOf(matchId, secret)) return false
    if (match.playerIds.includes(playerId)) match.joinBy = Infinity
    return true
  }

  /**
   * Registers the game server of this token: see `GameServers`.
   * @throws {ServerGone}; {Unavailable}: see `assertFollowed`
   */
  registerServer(token: string, registration: ServerRegistration): Registered {
    const { lifecycle, gameServers, enrolling } = this.#parts
    const server = this.#serverOf(token)
    lifecycle.assertFollowed(server, registration.deployment)
    return gameServers.register(server, enrolling.withinTerms(server, registration))
  }
  /**
   * Returns the orders of the server, and the ids whose records must be written first: the matches that it had before,
   * and the server itself if it starts or stops listing itself, because a restart needs that record.
   * @throws {InvalidInput}, and nothing changes; {ServerGone}; {ServerNotRegistered}
   */
  reportServer(token: string, report: ServerReport) {
    this.#parts.browser.assertListing(report)
    const server = this.#serverOf(token)
    const before = server.matches.map(({ id }) => id)
    const { isListed } = server
    const orders = this.#parts.gameServers.report(server, report)
    return { orders, before: server.isListed === isListed ? before : [...before, server.id] }
  }
  /** Like `reportServer`. Rejects with {ServerGone}, {ServerNotRegistered} or the signal's reason. */
  async waitForOrders(token: string, wait: Parameters<GameServers['waitForOrders']>[1]) {
    const server = this.#serverOf(token)
    const before = server.matches.map(({ id }) => id)
    const orders = await this.#parts.gameServers.waitForOrders(server, wait)
    return { orders, before: [...before, ...(server.presence?.said.keys() ?? [])] }
  }

  /** @throws {ServerGone}; {Unavailable} while its record may have vanished */
  #serverOf(token: string): Server {
    const { context, enrolling } = this.#parts
    const server = this.#parts.byToken(token)
    if (server !== undefined) return server
    if (this.#sparesUnknown())
      throw new Unavailable('The record of this server may be lost. Let its matches continue.', {
        retryAfterMs: 30_000,
      })
    throw enrolling.goneOf(context.keys.credentialIn(token) ?? '')
  }
}
