import { Conflict, InvalidInput, NotFound } from '@muster/core'
import { RelayNotAuthorized, RelayNotRevoked } from '../errors.js'
import { readSession, type SessionContext } from './session-context.js'
import { isTransient, unlessTransient } from './orphans.js'
import { freeTokens, readingOf, type ReadySession, type RelayPlayer, type SessionUser } from './session.js'

const ATTEMPTS = 3
/** Milliseconds before the second attempt; twice as many before the third. */
const PAUSE_MS = 500

/**
 * Admits one more player, who has no seat yet, with a token that belongs to this player alone. After a lost response or
 * a 409, the session is read: a token at the player's address that no other player has is used. A received response is
 * compared with a reading too, because another player's token must never be handed out.
 * @throws {RelayNotAuthorized} if there is no such token; {NotFound} if the service no longer knows the session.
 */
export async function authorizePlayer(
  context: SessionContext,
  session: ReadySession,
  player: RelayPlayer,
): Promise<ReadySession> {
  const taken = new Set([...session.spent, ...session.seats.map(({ token }) => token)])
  let failure: unknown

  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    if (attempt > 1) await context.clock.sleep(PAUSE_MS * (attempt - 1), context.closing)
    const answered = await authorize(context, session.id, player.ip).catch(async (error: unknown) => {
      // A public deployment has no 404 here (live fact). If the session is gone, the reading throws NotFound.
      if (error instanceof InvalidInput) await readSession(context, session.id)
      if (!isTransient(error) && !(error instanceof Conflict)) throw error
      failure = error
      return undefined
    })
    const read = (await unlessTransient(readSession(context, session.id)))?.users
    const token = choose(player.ip, answered, read, taken)
    if (token !== undefined) return { ...session, seats: [...session.seats, { ...player, token }] }
  }
  throw new RelayNotAuthorized('The relay service returned no token for a player.', {
    sessionId: session.id,
    cause: failure,
  })
}

/**
 * Returns the response's token if it can be the player's; otherwise any free token that the reading shows at the
 * address. Pure.
 */
function choose(
  ip: string,
  answered: SessionUser | undefined,
  read: readonly SessionUser[] | undefined,
  taken: ReadonlySet<number>,
): number | undefined {
  const free = freeTokens(ip, read ?? [], taken)
  if (answered === undefined || answered.ip !== ip || taken.has(answered.token)) return free[0]
  const isElsewhere = read?.some(({ ip: other, token }) => token === answered.token && other !== ip) === true
  return free.includes(answered.token) || (free.length === 0 && !isElsewhere) ? answered.token : free[0]
}

/**
 * Revokes the spent tokens, and reads the session until they are gone.
 * @throws {RelayNotRevoked} if a token still exists, or its state is unknown.
 */
export async function revokeSpent(context: SessionContext, session: ReadySession): Promise<ReadySession> {
  for (const token of session.spent) await revoke(context, session.id, token)
  return { ...session, spent: [] }
}

async function revoke(context: SessionContext, sessionId: string, token: number): Promise<void> {
  let failure: unknown
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    if (attempt > 1) await context.clock.sleep(PAUSE_MS * (attempt - 1), context.closing)
    const input = { session_id: sessionId, authorization_token: token }
    await context.client.revokeUser(input, { timeoutMs: context.callTimeoutMs }).catch((error: unknown) => {
      // 404, or 400, is the response for a missing user or session; the reading shows which.
      const mayBeGone = error instanceof NotFound || error instanceof InvalidInput || error instanceof Conflict
      if (!isTransient(error) && !mayBeGone) throw error
      failure = error
    })
    const read = await unlessTransient(readSession(context, sessionId))
    if (read !== undefined && read.users.every((user) => user.token !== token)) return
  }
  throw new RelayNotRevoked('The revocation of a player token was not confirmed. The token may still be valid.', {
    sessionId,
    cause: failure,
  })
}

async function authorize(
  { client, callTimeoutMs }: SessionContext,
  sessionId: string,
  ip: string,
): Promise<SessionUser | undefined> {
  const answer = await client.authorizeUser({ session_id: sessionId, user_ip: ip }, { timeoutMs: callTimeoutMs })
  return readingOf(answer).users[0]
}
