import { NotFound } from '@muster/core'
import type { RelaySession as WireSession } from '@muster/core/api'
import { type NotReadyReason, RelayNotReady, TooManyRelaySessions } from '../errors.js'
import { mayHaveTakenEffect, tryRemoveSession, unlessTransient } from './orphans.js'
import { type OwnedSession, listSessions, type Marker, readSession, type SessionContext } from './session-context.js'
import type { SessionOpening, RelaySessionsConfig } from './session-options.js'
import {
  type OpenedSession,
  playersOf,
  type SessionReading,
  readingOf,
  type ReadySession,
  seatPlayers,
} from './session.js'

type ReadyPolling = Pick<RelaySessionsConfig, 'readyTimeoutMs' | 'pollMs' | 'maxPollMs'>

/** Number of attempts to create a session if responses are lost. */
const CREATES = 3
/** Number of sessions that are tried if one does not become ready. */
const SESSIONS = 2
const POLL_GROWTH = 1.5

/**
 * Creates a session. If the response is lost, the session is searched by its marker before another one is created. If
 * it is not found, it remains in doubt, and later ticks search and delete it.
 */
export async function createSession(context: SessionContext, opening: SessionOpening): Promise<OwnedSession> {
  for (let attempt = 1; ; attempt += 1) {
    const marker = context.markers.create(opening.label)
    context.hints.expect(marker.url)
    try {
      return record(context, opening, marker, await send(context, opening, marker))
    } catch (error) {
      if (!mayHaveTakenEffect(error)) {
        context.hints.forget(marker.url)
        throw error
      }
      context.doubts.set(marker.url, context.clock.now())
      const found = await findMarked(context, marker)
      if (found !== undefined) {
        context.doubts.delete(marker.url)
        return record(context, opening, marker, found)
      }
      context.hints.forget(marker.url)
      context.events.emit('doubtful', { label: opening.label, error: error instanceof Error ? error.name : 'Error' })
      if (attempt === CREATES) throw error
      await context.clock.sleep(1000 * attempt, context.closing)
    }
  }
}

/**
 * Waits until a session is ready. If it is not ready in time, it is deleted, and another session is tried.
 * @param create creates the second session.
 */
export async function awaitReady(
  context: SessionContext,
  opened: OwnedSession,
  waiting: ReadyPolling,
  signal: AbortSignal,
  create: (opening: SessionOpening) => Promise<OwnedSession>,
): Promise<ReadySession> {
  let entry = opened
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await pollUntilReady(context, entry, waiting, signal)
    if (typeof outcome !== 'string') return outcome
    const { id, hostId, filters, label } = entry.session
    if (entry.condemned !== undefined) throw new NotFound(`Relay session ${id} was deleted before it was ready.`)
    await tryRemoveSession(context, id, 'not ready')
    if (attempt === SESSIONS) {
      throw new RelayNotReady(`${SESSIONS} relay sessions in a row did not become ready; the last was ${outcome}`, {
        reason: outcome,
        sessionId: id,
      })
    }
    entry = await create({ players: playersOf(entry.session), hostId, filters, label })
  }
}

async function pollUntilReady(
  context: SessionContext,
  entry: OwnedSession,
  waiting: ReadyPolling,
  signal: AbortSignal,
): Promise<ReadySession | NotReadyReason> {
  const { clock, hints, ledger } = context
  const { id, openedAt } = entry.session
  const deadline = Math.max(clock.now(), openedAt + waiting.readyTimeoutMs)
  for (let waitMs = waiting.pollMs; ; waitMs = Math.min(waiting.maxPollMs, waitMs * POLL_GROWTH)) {
    const verdict = settle(context, entry)
    if (typeof verdict !== 'string' || verdict === 'in error' || clock.now() >= deadline) return verdict
    await hints.wait(entry.marker?.url ?? '', Math.min(waitMs, deadline - clock.now()), signal)
    try {
      entry.reading = (await unlessTransient(readSession(context, id, signal))) ?? entry.reading
    } catch (error) {
      if (error instanceof NotFound) return 'gone'
      throw error
    }
    if (!ledger.has(id)) return 'gone' // The session was deleted while it was read.
  }
}

/** Returns the ready session if the last reading shows it ready; otherwise the reason why it is not. */
export function settle(context: SessionContext, entry: OwnedSession): ReadySession | NotReadyReason {
  const { session } = entry
  if (session.ready) return session
  const verdict = judge(entry.reading, session)
  if (typeof verdict === 'string') return verdict
  entry.session = verdict
  const { id: sessionId, label, openedAt } = session
  context.events.emit('ready', { sessionId, label, waitedMs: context.clock.now() - openedAt })
  return verdict
}

/**
 * Decides whether a session can be used, by `ready`, `error`, the relay and the tokens. `status` is only a text for
 * people. Pure.
 */
function judge(reading: SessionReading | undefined, session: OpenedSession): ReadySession | NotReadyReason {
  if (reading?.failed === true) return 'in error'
  if (reading?.ready !== true) return 'not ready in time'
  const { players, ...facts } = session
  const { seats, missing } = seatPlayers(players, reading.users)
  if (reading.link === undefined || missing.length > 0) return 'without relay or tokens'
  return { ...facts, ready: true, link: reading.link, seats, spent: [] }
}

const send = (
  { client, callTimeoutMs }: SessionContext,
  { players, filters }: SessionOpening,
  marker: Marker,
): Promise<WireSession> => {
  const users = players.map(({ ip }) => ({ ip }))
  return client.create(
    { users, webhook_url: marker.url, ...(filters.length === 0 ? {} : { filters }) },
    { timeoutMs: callTimeoutMs },
  )
}

async function findMarked(context: SessionContext, marker: Marker): Promise<WireSession | SessionReading | undefined> {
  const listing = await listSessions(context).catch(() => undefined)
  return listing?.readings.find(({ webhookUrl }) => webhookUrl === marker.url)
}

function record(
  context: SessionContext,
  { players, hostId, filters, label }: SessionOpening,
  marker: Marker,
  seen: WireSession | SessionReading,
): OwnedSession {
  const reading = 'session_id' in seen ? readingOf(seen) : seen
  const now = context.clock.now()
  const session: OpenedSession = { id: reading.id, label, hostId, filters, openedAt: now, ready: false, players }
  const entry: OwnedSession = { session, marker, reading, lastUsedAt: now, condemned: undefined }
  context.ledger.set(reading.id, entry)
  context.events.emit('opened', { sessionId: reading.id, label })
  return entry
}

/**
 * Limits how many sessions one player hosts at a time.
 * @param most null for no limit.
 */
export function createHostLimit({ ledger }: Pick<SessionContext, 'ledger'>, most: number | null) {
  const underWay = new Map<string, number>()
  const hosted = (hostId: string) =>
    [...ledger.values()].filter(({ session, condemned }) => session.hostId === hostId && condemned === undefined).length
  const count = (hostId: string, change: number) => {
    const now = (underWay.get(hostId) ?? 0) + change
    if (now === 0) underWay.delete(hostId)
    else underWay.set(hostId, now)
  }
  return {
    /**
     * Checks that the player may host one more session. @throws {TooManyRelaySessions} if the player is at the limit.
     */
    admit: (hostId: string) => {
      if (most === null || hosted(hostId) + (underWay.get(hostId) ?? 0) < most) return
      throw new TooManyRelaySessions(`The player already hosts ${most} relay sessions. Delete one first.`, {
        limit: most,
      })
    },
    /** Counts a session that is being created. Returns a function that ends the count. */
    creating: (hostId: string) => {
      count(hostId, 1)
      return () => count(hostId, -1)
    },
  }
}
