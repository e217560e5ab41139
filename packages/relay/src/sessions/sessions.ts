import { NotFound } from '@muster/core'
import { RelayClosed } from '../errors.js'
import { createEventsWithProblems, manyWaitOn } from '@muster/core/internal'
import { createKeyedLock } from '../keyed-lock.js'
import type { OpenedSession } from './session.js'
import {
  createHints,
  createMarkers,
  knownEntry,
  readSession,
  receiveWebhook,
  type SessionContext,
} from './session-context.js'
import { settle } from './open-session.js'
import { Openings } from './openings.js'
import { configure, playerOf, type RelaySessionsOptions } from './session-options.js'
import { createOrphanReaper, listed, removeSession } from './orphans.js'
import type { RelaySessions } from './relay-sessions.js'
import { SessionSeats } from './seats.js'
import { Upkeep } from './upkeep.js'

/**
 * Creates the relay sessions: every peer gets its own credentials, and every opened session is tracked until it is
 * deleted.
 */
export function createRelaySessions(options: RelaySessionsOptions): RelaySessions {
  const config = configure(options)
  const { client, clock, callTimeoutMs, settleMs } = config
  const closing = manyWaitOn()
  const context: SessionContext = {
    client,
    clock,
    markers: createMarkers(config.webhookBaseUrl, config.owner, config.randomInt),
    hints: createHints(clock),
    events: createEventsWithProblems(),
    ledger: new Map(),
    doubts: new Map(),
    orphans: new Set(),
    callTimeoutMs,
    closing: closing.signal,
  }
  const lock = createKeyedLock()
  const upkeep = new Upkeep(context, config)
  const openings = new Openings(context, config, upkeep.wake)
  const seats = new SessionSeats(context, openings, lock)
  const reapOrphans = createOrphanReaper(context, settleMs)

  const known = (sessionId: string) => knownEntry(context, sessionId)
  const forget = (sessionId: string) => {
    const url = context.ledger.get(sessionId)?.marker?.url
    if (url !== undefined) context.hints.forget(url)
    context.ledger.delete(sessionId)
  }

  const close = async (timeoutMs: number) => {
    const deadline = clock.now() + timeoutMs
    closing.abort(new RelayClosed('The relay sessions are closed.'))
    await upkeep.stop()
    await openings.settled()
    await upkeep.deleteAll(deadline)
  }
  let closed: Promise<void> | undefined

  return {
    events: context.events.emitter,
    open: async (input, { signal } = {}) => openings.open(openings.admit(input, signal), signal),
    create: async (input, { signal } = {}) => {
      const { session } = await openings.create(openings.admit(input, signal), signal)
      return session as OpenedSession
    },
    awaitReady: (sessionId, { signal } = {}) =>
      lock.run(sessionId, async () => openings.awaitReady(known(sessionId), signal)),
    get: async (sessionId) => {
      const entry = known(sessionId)
      try {
        entry.reading = await readSession(context, sessionId)
      } catch (error) {
        if (error instanceof NotFound) forget(sessionId)
        throw error
      }
      settle(context, entry)
      return entry.session
    },
    list: () => listed(context),
    delete: (sessionId) => removeSession(context, sessionId, 'asked').finally(upkeep.wake),
    authorize: async (sessionId, player) => seats.authorize(sessionId, playerOf(player)),
    revoke: (sessionId, playerId, { signal } = {}) => seats.revoke(sessionId, playerId, signal),
    revokeSpent: (sessionId) => seats.revokeSpent(sessionId),
    credentialsFor: (sessionId, playerId) => seats.credentialsFor(sessionId, playerId),
    keepAlive: (sessionId) => {
      known(sessionId)
    },
    adopt: (session) => {
      closing.signal.throwIfAborted()
      const condemned = context.ledger.get(session.id)?.condemned
      forget(session.id)
      context.ledger.set(session.id, {
        session,
        marker: undefined,
        reading: undefined,
        lastUsedAt: clock.now(),
        condemned,
      })
      upkeep.wake()
    },
    release: (sessionId) => {
      if (context.ledger.get(sessionId)?.condemned === undefined) forget(sessionId)
    },
    reapOrphans: (given) => reapOrphans(given).finally(upkeep.wake),
    deleteLabelled: async (label) => {
      for await (const session of listed(context)) {
        if (session.owned && session.label === label && !session.known)
          await removeSession(context, session.id, 'orphan')
      }
    },
    tick: () => upkeep.tick(),
    webhook: async (request) =>
      receiveWebhook(context.hints, request, context.markers.urlAt(new URL(request.url).pathname)),
    close: ({ timeoutMs = 60_000 } = {}) => (closed ??= close(timeoutMs)),
  }
}
