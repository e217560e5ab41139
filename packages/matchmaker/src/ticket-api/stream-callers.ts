import { Problem, type Authenticate } from '@muster/core/http'
import type { TicketCaller } from './caller.js'
import type { StreamTokens } from './stream-tokens.js'

/** A caller who may be limited to one event stream. */
export interface StreamCaller extends TicketCaller {
  /**
   * The ticket whose events the caller may read; undefined for a caller identified by `authenticate`, who is not
   * limited.
   */
  readonly streamOf?: string | undefined
}

/** Matches URLs with a stream token: `/tickets/<id>/events?token=<token>`. */
const WITH_TOKEN = /\/events\?(?:.*&)?token=/

const hasStreamToken = ({ method, url }: Request) => method === 'GET' && WITH_TOKEN.test(url)

/**
 * Extends `authenticate` to callers with a stream token.
 * @throws {Problem} 401 for a token that is expired or not valid.
 */
export function admitStreams(
  authenticate: Authenticate<TicketCaller>,
  tokens: StreamTokens,
): Authenticate<StreamCaller> {
  const identify: Authenticate<StreamCaller> = (request, connection) => {
    if (!hasStreamToken(request)) return authenticate(request, connection)
    const grant = tokens.read(new URL(request.url).searchParams.get('token') ?? '')
    if (grant === undefined)
      throw new Problem(401, 'stream-token-invalid', 'the token of the stream is expired, or not one: ask for another')
    return { id: grant.playerId, role: 'player', streamOf: grant.ticketId }
  }
  return Object.assign(identify, {
    recall: (request: Request) => (hasStreamToken(request) ? undefined : authenticate.recall?.(request)),
    isSigned: (request: Request) => hasStreamToken(request) || authenticate.isSigned?.(request) === true,
  })
}

/**
 * Refuses the token of another ticket's stream.
 * @throws {Problem} 401
 */
export function assertStreamOf(ticketId: string, { streamOf }: StreamCaller): void {
  if (streamOf === undefined || streamOf === ticketId) return
  throw new Problem(401, 'stream-token-invalid', 'the token of the stream is that of another ticket')
}

/**
 * Refuses stream tokens on every route but the event stream.
 * @throws {Problem} 401
 */
export function assertStream(route: string, { streamOf }: StreamCaller): void {
  if (streamOf === undefined || route === 'ticketEvents') return
  throw new Problem(401, 'stream-token-invalid', 'the token of a stream is good for its events only')
}
