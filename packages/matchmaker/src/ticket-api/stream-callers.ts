import { Problem, type Authenticate } from '@muster/core/http'
import type { TicketCaller } from './caller.js'
import type { StreamTokens } from './stream-tokens.js'

/** A caller who may read one stream and nothing else. */
export interface StreamCaller extends TicketCaller {
  /** The ticket whose events it may read; undefined for whoever `authenticate` knows. */
  readonly streamOf?: string | undefined
}

/** Where a token may stand: `/tickets/<id>/events?token=<token>`. */
const WITH_TOKEN = /\/events\?(?:.*&)?token=/

/**
 * Knows those, too, who come by the token of a stream. @throws {Problem} 401 for a token that is expired, or not ours.
 */
export const admitStreams =
  (authenticate: Authenticate<TicketCaller>, tokens: StreamTokens): Authenticate<StreamCaller> =>
  (request, connection) => {
    if (request.method !== 'GET' || !WITH_TOKEN.test(request.url)) return authenticate(request, connection)
    const grant = tokens.read(new URL(request.url).searchParams.get('token') ?? '')
    if (grant === undefined)
      throw new Problem(401, 'stream-token-invalid', 'the token of the stream is expired, or not one: ask for another')
    return { id: grant.playerId, role: 'player', streamOf: grant.ticketId }
  }

/** @throws {Problem} 401 for the stream of another ticket. */
export function assertStreamOf(ticketId: string, { streamOf }: StreamCaller): void {
  if (streamOf === undefined || streamOf === ticketId) return
  throw new Problem(401, 'stream-token-invalid', 'the token of the stream is that of another ticket')
}

/** @throws {Problem} 401 for any other route. */
export function assertStream(route: string, { streamOf }: StreamCaller): void {
  if (streamOf === undefined || route === 'ticketEvents') return
  throw new Problem(401, 'stream-token-invalid', 'the token of a stream is good for its events only')
}
