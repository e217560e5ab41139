import { ConnectionLost, NotFound, RateLimited, ServerError, TimedOut, UnexpectedResponse } from '@muster/core'
import { type DeleteReason, listSessions, type SessionContext } from './session-context.js'

/** The meaning of the service's errors for a call. */

/** True if the same call may succeed a little later. */
export const isTransient = (error: unknown): boolean =>
  error instanceof ConnectionLost ||
  error instanceof TimedOut ||
  error instanceof ServerError ||
  error instanceof UnexpectedResponse ||
  error instanceof RateLimited

/** True if the call may have taken effect although it failed. */
export function mayHaveTakenEffect(error: unknown): boolean {
  if (error instanceof ConnectionLost || error instanceof TimedOut) return error.sent
  return error instanceof ServerError || error instanceof UnexpectedResponse
}

/** Returns the call's result; undefined if the resource is missing, or cannot be read at the moment. */
export async function unlessTransient<T>(call: Promise<T>): Promise<T | undefined> {
  return call.catch((error: unknown) => {
    if (isTransient(error)) return undefined
    throw error
  })
}

/** Awaits a deletion. A resource that is already gone counts as deleted. */
async function unlessGone(call: Promise<unknown>): Promise<void> {
  await call.catch((error: unknown) => {
    if (!(error instanceof NotFound)) throw error
  })
}

/**
 * Deletes a session. After the first attempt the session is marked as condemned: every tick retries until the service
 * confirms the deletion.
 */
export async function removeSession(context: SessionContext, sessionId: string, reason: DeleteReason): Promise<void> {
  const entry = context.ledger.get(sessionId)
  if (entry !== undefined) entry.condemned ??= reason
  try {
    await unlessGone(context.client.delete({ session_id: sessionId }, { timeoutMs: context.callTimeoutMs }))
  } catch (error) {
    context.events.emit('deleteFailed', { sessionId, error: error instanceof Error ? error.name : 'Error' })
    throw error
  }
  if (entry?.marker !== undefined) context.hints.forget(entry.marker.url)
  context.ledger.delete(sessionId)
  context.events.emit('deleted', { sessionId, reason: entry?.condemned ?? reason })
}

/**
 * Deletes a session like `removeSession`, but leaves a failure to the next tick. Resolves with true if it succeeded.
 */
export const tryRemoveSession = (context: SessionContext, sessionId: string, reason: DeleteReason): Promise<boolean> =>
  removeSession(context, sessionId, reason).then(
    () => true,
    () => false,
  )

/** A session in the service's list, without its secrets. */
export interface ListedSession {
  readonly id: string
  /** The service's `ready`. */
  readonly ready: boolean
  /** Number of users that have a token. */
  readonly users: number
  /** True if a process of the same `owner` opened the session. */
  readonly owned: boolean
  /** The opener's name for the session. */
  readonly label: string | undefined
  /** True if the session is in this process's ledger, or is being opened by this process. */
  readonly known: boolean
  /** True if this process opened the session, even if it has released it since. */
  readonly own: boolean
}

export interface ReapedOrphans {
  /** Ids of the sessions that were deleted. */
  readonly deleted: readonly string[]
  /**
   * Ids of the sessions whose deletion the service did not confirm. Ticks retry; each failure is a `deleteFailed`
   * event.
   */
  readonly left: readonly string[]
}

export interface OrphanOptions {
  /**
   * Milliseconds for which a session must have been seen without an owner before it is deleted. Default 120,000,
   * because another process may just be opening it. Use 0 at a start if no other process runs. Creates of an ended
   * process may take effect late. So if `graceMs` is less than the option `settleMs`, the call lasts that much longer
   * and searches a second time.
   */
  readonly graceMs?: number | undefined
  /**
   * Called for each session of our owner that is not in this process's ledger. Default: sessions that other processes
   * opened have no owner.
   */
  readonly isOwned?: ((session: ListedSession) => boolean | Promise<boolean>) | undefined
}

/** Maximum number of repeated deletions of sessions that are still listed, or whose deletion was not confirmed. */
const MOST_REPEATS = 3
/** Milliseconds before the first repetition. Each further wait is longer by the same time. */
const PAUSE_MS = 1000

export async function* listed(context: SessionContext): AsyncGenerator<ListedSession, void, undefined> {
  const { readings } = await listSessions(context)
  for (const { id, ready, users, webhookUrl } of readings) {
    const marker = context.markers.read(webhookUrl)
    const opening = marker !== undefined && (context.hints.isExpected(marker.url) || context.doubts.has(marker.url))
    yield {
      id,
      ready,
      users: users.length,
      owned: marker !== undefined,
      label: marker?.label,
      known: opening || context.ledger.has(id),
      own: marker !== undefined && context.markers.isOwn(marker),
    }
  }
}

/**
 * Deletes the sessions of our `owner` that belong to nobody, and remembers since when each was seen. A service may list
 * only one page. Deletions make room for more on that page, so the list is read until nothing is left to delete.
 */
export function createOrphanReaper(context: SessionContext, settleMs: number) {
  let firstSeen = new Map<string, number>()

  const findOrphans = async (
    graceMs: number,
    isOwned: NonNullable<OrphanOptions['isOwned']>,
  ): Promise<readonly string[]> => {
    const now = context.clock.now()
    const seen = new Map<string, number>()
    for await (const session of listed(context)) {
      if (session.owned && !session.known && !(await isOwned(session)))
        seen.set(session.id, firstSeen.get(session.id) ?? now)
    }
    firstSeen = seen
    return [...seen].filter(([, since]) => now - since >= graceMs).map(([id]) => id)
  }

  /**
   * Deletes sessions until none is due, or until repetitions no longer help.
   * @param confirmed session id → whether the service confirmed its last deletion.
   */
  const deleteAll = async (due: () => Promise<readonly string[]>, confirmed: Map<string, boolean>): Promise<void> => {
    for (let repeats = 0; ;) {
      const ids = await due()
      if (ids.length === 0) return
      repeats = ids.every((id) => confirmed.has(id)) ? repeats + 1 : 0
      if (repeats > MOST_REPEATS) return
      if (repeats > 0) await context.clock.sleep(PAUSE_MS * repeats, context.closing)
      await Promise.all(ids.map(async (id) => confirmed.set(id, await tryRemoveSession(context, id, 'orphan'))))
    }
  }

  return async ({ graceMs = 120_000, isOwned = ({ own }) => own }: OrphanOptions = {}): Promise<ReapedOrphans> => {
    const confirmed = new Map<string, boolean>()
    const idsOf = (isConfirmed: boolean) => [...confirmed.keys()].filter((id) => confirmed.get(id) === isConfirmed)
    const due = () => findOrphans(graceMs, isOwned)
    try {
      await deleteAll(due, confirmed)
      if (graceMs < settleMs) {
        await context.clock.sleep(settleMs, context.closing)
        await deleteAll(due, confirmed)
      }
    } finally {
      for (const id of idsOf(false)) context.orphans.add(id)
    }
    return { deleted: idsOf(true), left: idsOf(false) }
  }
}

/** Finds the sessions that unanswered creates may have opened, and deletes them. */
export async function resolveDoubts(context: SessionContext, settleMs: number, longestMs: number): Promise<void> {
  if (context.doubts.size === 0) return
  const asked = context.clock.now()
  const { readings, complete } = await listSessions(context)
  /** Markers of sessions that the service did not delete: later ticks try again. */
  const left = new Set<string>()
  for (const { id, webhookUrl = '' } of readings) {
    if (!context.doubts.has(webhookUrl)) continue
    try {
      await unlessGone(context.client.delete({ session_id: id }, { timeoutMs: context.callTimeoutMs }))
    } catch {
      left.add(webhookUrl)
      continue
    }
    context.doubts.delete(webhookUrl)
    context.events.emit('deleted', { sessionId: id, reason: 'doubtful' })
  }
  for (const [url, since] of context.doubts) {
    if (!left.has(url) && asked - since >= (complete ? settleMs : longestMs)) context.doubts.delete(url)
  }
}
