import type { ServerBrowser } from '../browser/index.js'
import { Unavailable } from '../errors.js'
import type { GameServers, Registered, ServerKeys, ServerRegistration, ServerReport } from '../game-servers/index.js'
import type { Server } from '../records/index.js'
import type { Enrolling } from './enrolling.js'
import type { Fleet } from './fleet.js'
import type { HostedMatches } from './hosted-matches.js'
import type { ServerLifecycle } from './server-lifecycle.js'

interface TokenCallsOptions {
  readonly fleet: Pick<Fleet, 'find' | 'match'>
  readonly keys: Pick<ServerKeys, 'credentialIn'>
  /** The server that has this token: no earlier attempt, and none that is gone. */
  readonly byToken: (token: string) => Server | undefined
  readonly matches: Pick<HostedMatches, 'matchesOn'>
  readonly gameServers: Pick<GameServers, 'register' | 'report' | 'waitForOrders' | 'reportedOn'>
  readonly lifecycle: Pick<ServerLifecycle, 'assertFollowed'>
  readonly enrolling: Pick<Enrolling, 'goneOf' | 'withinTerms'>
  readonly browser: Pick<ServerBrowser, 'assertListing'>
  /** Its process runs. */
  readonly runs: (server: Server) => void
  /** Whether servers that are not known may be known again. */
  readonly sparesUnknown: (() => boolean) | undefined
}

/** What a process may ask that has the token of a server. */
export function createTokenCalls(options: TokenCallsOptions) {
  const { fleet, keys, byToken, matches, gameServers, lifecycle, enrolling, browser, runs, sparesUnknown } = options

  /** @throws {ServerGone}; {Unavailable} while its record may have vanished */
  const serverOf = (token: string): Server => {
    const server = byToken(token)
    if (server !== undefined) return server
    if (sparesUnknown?.() === true)
      throw new Unavailable('The record of this server may have vanished. Let players play on.', {
        retryAfterMs: 30_000,
      })
    throw enrolling.goneOf(keys.credentialIn(token) ?? '')
  }
  const isTokenOf = (serverId: string, token: string) => byToken(token)?.id === serverId
  const matchIdsOn = (server: Server) => matches.matchesOn(server).map(({ id }) => id)

  return {
    /** Whether any server has the secret; called before the match is known. */
    isServerSecret: (secret: string) => keys.credentialIn(secret) !== undefined,
    /** Whether the server of this match has the secret. */
    isSecretOf: isTokenOf,
    /** Notes that the server of a match is ready for players. Returns false for an unknown match or a wrong secret. */
    serverReady: (matchId: string, secret: string) => {
      const server = fleet.find(matchId)
      if (server === undefined || !isTokenOf(matchId, secret)) return false
      runs(server)
      return true
    },
    /** A player comes: an expected one meets `joinBy`. Returns false for an unknown match or a wrong secret. */
    playerCame: (matchId: string, secret: string, playerId: string) => {
      const match = fleet.match(matchId)
      if (match === undefined || !isTokenOf(matchId, secret)) return false
      if (match.playerIds.includes(playerId)) match.joinBy = Infinity
      return true
    },

    /**
     * Registers the game server of this token: see `GameServers`.
     * @throws {ServerGone}; {Unavailable}: see `assertFollowed`
     */
    registerServer: (token: string, registration: ServerRegistration): Registered => {
      const server = serverOf(token)
      lifecycle.assertFollowed(server, registration.deployment)
      return gameServers.register(server, enrolling.withinTerms(server, registration))
    },
    /**
     * Returns the orders of the server, and the ids of the matches that it had before, and its own if it lists itself
     * now, or does no more: a restart has to know that.
     * @throws {InvalidInput}, and nothing changes; {ServerGone}; {ServerNotRegistered}
     */
    reportServer: (token: string, report: ServerReport) => {
      browser.assertListing(report)
      const server = serverOf(token)
      const before = matchIdsOn(server)
      const { isListed } = server
      const orders = gameServers.report(server, report)
      return { orders, before: server.isListed === isListed ? before : [...before, server.id] }
    },
    /** As `reportServer`. Rejects with {ServerGone}, {ServerNotRegistered} or the signal's reason. */
    waitForOrders: async (token: string, wait: Parameters<GameServers['waitForOrders']>[1]) => {
      const server = serverOf(token)
      const before = matchIdsOn(server)
      const orders = await gameServers.waitForOrders(server, wait)
      return { orders, before: [...before, ...gameServers.reportedOn(server)] }
    },
  }
}
