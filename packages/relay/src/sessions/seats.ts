import { NotFound } from '@muster/core'
import { RelayNotRevoked } from '../errors.js'
import type { createKeyedLock } from '../keyed-lock.js'
import type { Openings } from './openings.js'
import { tryRemoveSession } from './orphans.js'
import { knownEntry, type SessionContext } from './session-context.js'
import {
  credentialsFor,
  playersOf,
  type ReadySession,
  type RelayCredentials,
  type RelayPlayer,
  withoutSeat,
} from './session.js'
import { authorizePlayer, revokeSpent } from './users.js'

/** The seats of ready sessions, each with its own credentials. */
export class SessionSeats {
  readonly #context: SessionContext
  readonly #openings: Openings
  readonly #lock: ReturnType<typeof createKeyedLock>

  /** @param lock locks sessions by id */
  constructor(context: SessionContext, openings: Openings, lock: ReturnType<typeof createKeyedLock>) {
    this.#context = context
    this.#openings = openings
    this.#lock = lock
  }

  authorize(sessionId: string, newcomer: RelayPlayer): Promise<ReadySession> {
    return this.#lock.run(sessionId, async () => {
      const session = this.#known(sessionId)
      const seat = session.seats.find(({ id }) => id === newcomer.id)
      if (seat?.ip === newcomer.ip) return session
      const without =
        seat === undefined ? session : await this.#dropSpent(this.#keep(withoutSeat(session, newcomer.id)))
      return this.#keep(await authorizePlayer(this.#context, without, newcomer))
    })
  }
  /** Removes a player. If the service does not revoke the token, a session without the player replaces this one. */
  revoke(sessionId: string, playerId: string, signal: AbortSignal | undefined): Promise<ReadySession> {
    return this.#lock.run(sessionId, async () => {
      const without = this.#keep(withoutSeat(this.#known(sessionId), playerId))
      try {
        return await this.#dropSpent(without)
      } catch (error) {
        if (!(error instanceof RelayNotRevoked || error instanceof NotFound)) throw error
        return await this.#replace(sessionId, without, signal)
      }
    })
  }
  revokeSpent(sessionId: string): Promise<ReadySession> {
    return this.#lock.run(sessionId, async () => this.#dropSpent(this.#known(sessionId)))
  }
  credentialsFor(sessionId: string, playerId: string): RelayCredentials {
    const credentials = credentialsFor(this.#known(sessionId), playerId)
    if (credentials === undefined) throw new NotFound(`Relay session ${sessionId} has no seat for this player.`)
    return credentials
  }

  #known(sessionId: string): ReadySession {
    const { session } = knownEntry(this.#context, sessionId)
    if (!session.ready) throw new NotFound(`Relay session ${sessionId} is not ready.`)
    return session
  }
  #keep(session: ReadySession): ReadySession {
    const entry = this.#context.ledger.get(session.id)
    if (entry !== undefined) entry.session = session
    return session
  }
  async #dropSpent(session: ReadySession): Promise<ReadySession> {
    return this.#keep(await revokeSpent(this.#context, session))
  }
  async #replace(sessionId: string, session: ReadySession, signal: AbortSignal | undefined): Promise<ReadySession> {
    const players = playersOf(session)
    const host = players.find(({ id }) => id === session.hostId) ?? players[0]
    const { filters, label } = session
    try {
      if (host === undefined) throw new NotFound(`Relay session ${sessionId} has no players left.`)
      return await this.#openings.open({ players, hostId: host.id, filters, label }, signal)
    } finally {
      await tryRemoveSession(this.#context, sessionId, 'replaced')
    }
  }
}
