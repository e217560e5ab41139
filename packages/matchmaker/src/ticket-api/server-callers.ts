import { createHash } from 'node:crypto'
import { bearerToken, Problem, type Authenticate } from '@muster/core/http'
import { whenKnown, type Awaitable } from '@muster/core/runtime'
import { assertBackend } from './caller.js'
import type { TicketService } from './service.js'
import type { StreamCaller } from './stream-callers.js'

/** A caller who may be the server of a match. */
export interface MatchCaller extends StreamCaller {
  /** The secret of the server, which is good for its own match only; undefined for every other caller. */
  readonly serverSecret?: string | undefined
}

/** Routes that a match's server may use, for its own match. */
const SERVER_ROUTES: ReadonlySet<string> = new Set([
  'playersLeft',
  'endMatch',
  'findInMatch',
  'createBackfill',
  'getBackfill',
  'updateBackfill',
  'deleteBackfill',
])
/** Their paths, so that other requests are not compared with secrets. */
const SERVER_PATHS = /\/(?:matches|backfills)(?:[/?]|$)/
const SECRET = /^[0-9a-v]{21}$/

export const notTheServer = () => new Problem(403, 'not-the-server', 'this is not the server of such a match')

/**
 * Extends `authenticate` to servers, which send the secret of their match, MM_MATCH_SECRET, as the bearer. A wrong one
 * is left to `authenticate`, and counts as a guess.
 */
export function admitServers(
  authenticate: Authenticate<StreamCaller>,
  service: Pick<TicketService, 'isServerSecret'>,
): Authenticate<MatchCaller> {
  const identify: Authenticate<MatchCaller> = (request, connection) => {
    const secret = SERVER_PATHS.test(request.url) ? (bearerToken(request) ?? '') : ''
    if (!SECRET.test(secret)) return authenticate(request, connection)
    return whenKnown(service.isServerSecret(secret), (known): Awaitable<MatchCaller | undefined> =>
      known ? serverOf(secret) : authenticate(request, connection),
    )
  }
  return Object.assign(identify, { recall: authenticate.recall, isSigned: authenticate.isSigned })
}

/** Its id goes into counts of requests, so it does not hold the secret. */
const serverOf = (secret: string): MatchCaller => {
  const id = createHash('sha256').update(secret).digest('base64url').slice(0, 22)
  return { id: `server ${id}`, serverSecret: secret }
}

/** Refuses a server on routes that are not for servers, and players on those of backends. @throws {Problem} 403 */
export function assertRole(route: string, caller: MatchCaller, backendRoutes: ReadonlySet<string>): void {
  if (caller.serverSecret === undefined) {
    if (backendRoutes.has(route)) assertBackend(caller)
  } else if (!SERVER_ROUTES.has(route)) {
    throw new Problem(403, 'own-match-only', 'the secret of a match is good for that match only')
  }
}

/** Checks that a server speaks of its own match. @throws {Problem} 403; a promise rejects with it */
export function assertOwnMatch(
  matchId: string,
  { serverSecret }: Pick<MatchCaller, 'serverSecret'>,
  service: Pick<TicketService, 'isSecretOf'>,
): Awaitable<void> {
  if (serverSecret === undefined) return undefined
  return whenKnown(service.isSecretOf(matchId, serverSecret), (isOwn) => {
    if (!isOwn) throw notTheServer()
  })
}
