import { listSessions, type SessionContext } from './session-context.js'
import { unlessGone } from './outcome.js'
import { tryRemoveSession } from './removal.js'

/** A session as the service lists it, without its secrets. */
export interface ListedSession {
  readonly id: string
  /** As the service says. */
  readonly ready: boolean
  /** Users that have a token. */
  readonly users: number
  /** Whether a process of the same `owner` opened it. */
  readonly owned: boolean
  /** What its opener called it. */
  readonly label: string | undefined
  /** Whether it is in this process's ledger. */
  readonly known: boolean
  /** Whether this process opened it, also if it has let go of it since. */
  readonly own: boolean
}

export interface ReapedOrphans {
  /** Ids of the sessions that were deleted. */
  readonly deleted: readonly string[]
  /** Ids of those of which the service did not confirm it. Ticks go on trying, and each failure is a `deleteFailed`. */
  readonly left: readonly string[]
}

export interface OrphanOptions {
  /**
   * Milliseconds that a session must have been seen without anyone owning it. Default 120,000, because
   * another process may just be opening it; 0 is for a start when no other process runs. Less than the option
   * `settleMs` takes that long: what a process had asked for before it went may come about only then, and is looked for
   * once more.
   */
  readonly graceMs?: number | undefined
  /**
   * Asked for each session of our owner that is not in this process's ledger. Default: nobody owns those of other
   * processes.
   */
  readonly isOwned?: ((session: ListedSession) => boolean | Promise<boolean>) | undefined
}

/** Times that a session is deleted again which is still listed, or whose deletion was not confirmed. */
const MOST_REPEATS = 3
/** Milliseconds before the first of them; as many more before each further one. */
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
 * Deletes the sessions of our owner that nobody has; remembers since when it has seen each. The service lists one page
 * and has no way to ask for the next: what is deleted makes room for more, so it looks until nothing is left to delete.
 */
export function createOrphanReaper(context: SessionContext, settleMs: number) {
  let firstSeen = new Map<string, number>()

  const look = async (graceMs: number, isOwned: NonNullable<OrphanOptions['isOwned']>): Promise<readonly string[]> => {
    const now = context.clock.now()
    const seen = new Map<string, number>()
    for await (const session of listed(context)) {
      if (session.owned && !session.known && !(await isOwned(session)))
        seen.set(session.id, firstSeen.get(session.id) ?? now)
    }
    firstSeen = seen
    return [...seen].filter(([, since]) => now - since >= graceMs).map(([id]) => id)
  }

  /** @param confirmed whether the service confirmed the last deletion of each. */
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
    const due = () => look(graceMs, isOwned)
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

/** Looks for the sessions that unanswered creates may have made, and deletes them. */
export async function resolveDoubts(context: SessionContext, settleMs: number, longestMs: number): Promise<void> {
  if (context.doubts.size === 0) return
  const asked = context.clock.now()
  const { readings, complete } = await listSessions(context)
  for (const { id, webhookUrl = '' } of readings) {
    if (!context.doubts.has(webhookUrl)) continue
    await unlessGone(context.client.delete({ session_id: id }, { timeoutMs: context.callTimeoutMs }))
    context.doubts.delete(webhookUrl)
    context.events.emit('deleted', { sessionId: id, reason: 'doubtful' })
  }
  for (const [url, since] of context.doubts) {
    if (asked - since >= (complete ? settleMs : longestMs)) context.doubts.delete(url)
  }
}
