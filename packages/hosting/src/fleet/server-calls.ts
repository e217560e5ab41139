import { Unavailable } from '../errors.js'
import type { ServerBrowser } from '../browser/index.js'
import type { GameServers, Registered } from '../game-servers/index.js'
import type { Server, ServerRegistration, ServerReport } from '../records/index.js'
import type { AllocatorContext } from './allocator-context.js'
import type { Enrolling } from './enrolling.js'
import type { ServerLifecycle } from './server-lifecycle.js'

interface CalledParts {
  readonly context: AllocatorContext
  readonly gameServers: GameServers
  readonly lifecycle: ServerLifecycle
  readonly enrolling: Enrolling
  readonly browser: ServerBrowser
  /** Returns the server with this token. Undefined if the token is from an earlier attempt or the server is gone. */
  byToken(token: string): Server | undefined
  /** Called when a server's process is known to run. */
  runs(server: Server): void
}

/** The calls of server processes that authenticate with a server's token. */
export class ServerCalls {
  readonly #parts: CalledParts
  readonly #sparesUnknown: () => boolean

  /** @param sparesUnknown returns true if the store may have lost records of servers */
  constructor(parts: CalledParts, sparesUnknown: () => boolean) {
    this.#parts = parts
    this.#sparesUnknown = sparesUnknown
  }

  /** True if Muster has created this token for any server. Called before the server is looked up. */
  isServerSecret(secret: string): boolean {
    return this.#parts.context.keys.credentialIn(secret) !== undefined
  }
  /** True if this is the token of the server. */
  isSecretOf(serverId: string, token: string): boolean {
    return this.#parts.byToken(token)?.id === serverId
  }
  /** Records that a match's own server is ready for players. False if the match is unknown or the secret is wrong. */
  serverReady(matchId: string, secret: string): boolean {
    const server = this.#parts.context.fleet.find(matchId)
    if (server === undefined || !this.isSecretOf(matchId, secret)) return false
    this.#parts.runs(server)
    return true
  }
  /**
   * Records that a player has come. The first player of the match ends the time limit `joinBy`. Returns false if the
   * match is unknown or the secret is wrong.
   */
  playerCame(matchId: string, secret: string, playerId: string): boolean {
    const match = this.#parts.context.fleet.match(matchId)
    if (match === undefined || !this.isSecretOf(matchId, secret)) return false
    if (match.playerIds.includes(playerId)) match.joinBy = Infinity
    return true
  }

  /**
   * Registers the server with this token, see `GameServers.register`.
   * @throws {ServerGone}; {Unavailable}, see `ServerLifecycle.assertFollowed`
   */
  registerServer(token: string, registration: ServerRegistration): Registered {
    const { lifecycle, gameServers, enrolling } = this.#parts
    const server = this.#serverOf(token)
    lifecycle.assertFollowed(server, registration.deployment)
    return gameServers.register(server, enrolling.withinTerms(server, registration))
  }
  /**
   * Applies a report. Returns the server's orders, and the ids whose entries must be stored before the server is
   * answered.
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
  /**
   * Waits until the orders of a server change. Returns the same as `reportServer`. Rejects with {ServerGone},
   * {ServerNotRegistered} or the signal's reason.
   */
  async waitForOrders(token: string, wait: Parameters<GameServers['waitForOrders']>[1]) {
    const server = this.#serverOf(token)
    const before = server.matches.map(({ id }) => id)
    const orders = await this.#parts.gameServers.waitForOrders(server, wait)
    return { orders, before: [...before, ...(server.presence?.said.keys() ?? [])] }
  }

  /** Returns the server with this token. @throws {ServerGone}; {Unavailable} if the store may have lost its record */
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
