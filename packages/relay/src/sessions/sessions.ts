import { NotFound } from '@muster/core'
import { RelayClosed, RelayNotDeleted, RelayNotRevoked } from '../errors.js'
import { createEventsWithProblems, createTicker, linkedSignal, manyWaitOn, unlessAborted } from '@muster/core/internal'
import { createKeyedLock } from '../keyed-lock.js'
import { credentialsFor, type OpenedSession, playersOf, type ReadySession, withoutSeat } from './session.js'
import {
  createHints,
  createMarkers,
  type DeleteReason,
  type Entry,
  readSession,
  receiveWebhook,
  type SessionContext,
} from './session-context.js'
import { awaitReady, createHostLimit, createSession, settle } from './open-session.js'
import {
  configure,
  type Opening,
  openingOf,
  type OpenRelaySession,
  playerOf,
  type RelaySessionsOptions,
} from './session-options.js'
import { createOrphanReaper, listed, removeSession, resolveDoubts, tryRemoveSession } from './orphans.js'
import type { RelaySessions } from './relay-sessions.js'
import { authorizePlayer, revokeSpent } from './users.js'

/** Milliseconds between two attempts of `close`. */
const CLOSE_PAUSE_MS = 1000

/**
 * Creates the relay sessions: every peer gets its own credentials, and every opened session is tracked until deleted.
 */
export function createRelaySessions(options: RelaySessionsOptions): RelaySessions {
  const config = configure(options)
  const { client, clock, callTimeoutMs, settleMs, idleMs, maxLifetimeMs } = config
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
  const hosts = createHostLimit(context, config.sessionsPerHost)
  const reapOrphans = createOrphanReaper(context, settleMs)
  /** Creates under way, including those whose caller has stopped waiting. */
  const creating = new Set<Promise<void>>()

  const tick = async () => {
    const now = clock.now()
    const due = [...context.ledger.values()].flatMap((entry) => {
      const reason = dueReason(entry, now)
      return reason === undefined ? [] : [tryRemoveSession(context, entry.session.id, reason)]
    })
    await Promise.all([...due, ...[...context.orphans].map(deleteOrphan)])
    await resolveDoubts(context, settleMs, maxLifetimeMs).catch(() => {}) // the next tick looks again
  }
  const deleteOrphan = async (sessionId: string) => {
    if (await tryRemoveSession(context, sessionId, 'orphan')) context.orphans.delete(sessionId)
  }
  const dueReason = ({ session, lastUsedAt, condemned }: Entry, now: number): DeleteReason | undefined => {
    if (condemned !== undefined) return condemned
    if (now - session.openedAt >= maxLifetimeMs) return 'too old'
    return idleMs !== null && now - lastUsedAt >= idleMs ? 'idle' : undefined
  }
  const leftOver = () => context.ledger.size + context.doubts.size + context.orphans.size
  const ticker = createTicker({ clock, everyMs: config.tickMs, tick, isNeeded: () => leftOver() > 0 })

  /** A create may have taken effect, so it continues when its caller stops waiting; its session is then deleted. */
  const create = (opening: Opening, signal: AbortSignal | undefined): Promise<Entry> => {
    const created = hosts.creating(opening.hostId)
    const made = createSession(context, opening).finally(created).finally(ticker.wake)
    const settled: Promise<void> = made
      .then(async ({ session }) => {
        if (signal?.aborted === true) await tryRemoveSession(context, session.id, 'abandoned')
      })
      .catch(() => {})
      .finally(() => creating.delete(settled))
    creating.add(settled)
    return unlessAborted(made, signal)
  }

  const open = async (opening: Opening, signal: AbortSignal | undefined): Promise<ReadySession> => {
    const linked = linkedSignal(signal, closing.signal)
    let entry: Entry | undefined
    const another = async (again: Opening) => (entry = await create(again, linked.signal))
    try {
      return await awaitReady(context, await another(opening), config, linked.signal, another)
    } catch (error) {
      if (entry !== undefined && entry.condemned === undefined)
        await tryRemoveSession(context, entry.session.id, 'abandoned')
      throw error
    } finally {
      linked.unlink()
    }
  }

  const admitted = (input: OpenRelaySession, signal: AbortSignal | undefined): Opening => {
    closing.signal.throwIfAborted()
    signal?.throwIfAborted()
    const opening = openingOf(input)
    hosts.admit(opening.hostId)
    return opening
  }
  const known = (sessionId: string): Entry => {
    closing.signal.throwIfAborted()
    const entry = context.ledger.get(sessionId)
    if (entry === undefined || entry.condemned !== undefined)
      throw new NotFound(`Relay session ${sessionId} is unknown to this process.`)
    entry.lastUsedAt = clock.now()
    return entry
  }
  const knownReady = (sessionId: string): ReadySession => {
    const { session } = known(sessionId)
    if (!session.ready) throw new NotFound(`Relay session ${sessionId} is not ready.`)
    return session
  }
  const keep = (session: ReadySession): ReadySession => {
    const entry = context.ledger.get(session.id)
    if (entry !== undefined) entry.session = session
    return session
  }
  const forget = (sessionId: string) => {
    const url = context.ledger.get(sessionId)?.marker?.url
    if (url !== undefined) context.hints.forget(url)
    context.ledger.delete(sessionId)
  }

  const replaceWithout = async (
    sessionId: string,
    session: ReadySession,
    signal: AbortSignal | undefined,
  ): Promise<ReadySession> => {
    const players = playersOf(session)
    const host = players.find(({ id }) => id === session.hostId) ?? players[0]
    try {
      if (host === undefined) throw new NotFound(`Relay session ${sessionId} has no players left.`)
      return await open({ players, hostId: host.id, filters: session.filters, label: session.label }, signal)
    } finally {
      await tryRemoveSession(context, sessionId, 'replaced')
    }
  }

  const cleanUp = async (timeoutMs: number) => {
    const deadline = clock.now() + timeoutMs
    closing.abort(new RelayClosed('The relay sessions are closed.'))
    await ticker.stop()
    await Promise.all(creating)
    for (;;) {
      const removals = [...context.ledger.keys()].map((sessionId) => tryRemoveSession(context, sessionId, 'closing'))
      await Promise.all([...removals, ...[...context.orphans].map(deleteOrphan)])
      await resolveDoubts(context, settleMs, settleMs).catch(() => {})
      if (leftOver() === 0) return
      if (clock.now() >= deadline) break
      await clock.sleep(CLOSE_PAUSE_MS)
    }
    const sessionIds = [...context.ledger.keys(), ...context.orphans]
    throw new RelayNotDeleted(
      `${sessionIds.length} relay sessions, and ${context.doubts.size} creates without an answer, may be left`,
      { sessionIds },
    )
  }
  let closed: Promise<void> | undefined

  return {
    events: context.events.emitter,
    open: async (input, { signal } = {}) => open(admitted(input, signal), signal),
    create: async (input, { signal } = {}) => {
      const { session } = await create(admitted(input, signal), signal)
      return session as OpenedSession
    },
    awaitReady: (sessionId, { signal } = {}) =>
      lock.run(sessionId, async () => {
        const entry = known(sessionId)
        const linked = linkedSignal(signal, closing.signal)
        try {
          return await awaitReady(context, entry, config, linked.signal, (again) => create(again, linked.signal))
        } finally {
          linked.unlink()
        }
      }),
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
    delete: (sessionId) => removeSession(context, sessionId, 'asked').finally(ticker.wake),
    authorize: async (sessionId, player) => {
      const newcomer = playerOf(player)
      return lock.run(sessionId, async () => {
        const session = knownReady(sessionId)
        const seat = session.seats.find(({ id }) => id === newcomer.id)
        if (seat?.ip === newcomer.ip) return session
        const without =
          seat === undefined ? session : keep(await revokeSpent(context, keep(withoutSeat(session, newcomer.id))))
        return keep(await authorizePlayer(context, without, newcomer))
      })
    },
    revoke: (sessionId, playerId, { signal } = {}) =>
      lock.run(sessionId, async () => {
        const without = keep(withoutSeat(knownReady(sessionId), playerId))
        try {
          return keep(await revokeSpent(context, without))
        } catch (error) {
          if (!(error instanceof RelayNotRevoked || error instanceof NotFound)) throw error
          return await replaceWithout(sessionId, without, signal)
        }
      }),
    revokeSpent: (sessionId) =>
      lock.run(sessionId, async () => keep(await revokeSpent(context, knownReady(sessionId)))),
    credentialsFor: (sessionId, playerId) => {
      const credentials = credentialsFor(knownReady(sessionId), playerId)
      if (credentials === undefined) throw new NotFound(`Relay session ${sessionId} has no seat for this player.`)
      return credentials
    },
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
      ticker.wake()
    },
    release: (sessionId) => {
      if (context.ledger.get(sessionId)?.condemned === undefined) forget(sessionId)
    },
    reapOrphans: (given) => reapOrphans(given).finally(ticker.wake),
    deleteLabelled: async (label) => {
      for await (const session of listed(context)) {
        if (session.owned && session.label === label && !session.known)
          await removeSession(context, session.id, 'orphan')
      }
    },
    tick,
    webhook: async (request) =>
      receiveWebhook(context.hints, request, context.markers.urlAt(new URL(request.url).pathname)),
    close: ({ timeoutMs = 60_000 } = {}) => (closed ??= cleanUp(timeoutMs)),
  }
}
