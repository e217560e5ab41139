import { listSessions, type Desk } from './desk.js'
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
}

export interface OrphanOptions {
  /**
   * Milliseconds that a session must have been seen without anyone owning it. Default 120,000, because
   * another process may just be opening it; 0 is for a start when no other process runs.
   */
  readonly graceMs?: number | undefined
  /** Asked for each session of our owner that is not in this process's ledger. Default: nobody owns those. */
  readonly isOwned?: ((session: ListedSession) => boolean | Promise<boolean>) | undefined
}

export async function* listed(desk: Desk): AsyncGenerator<ListedSession, void, undefined> {
  const { readings } = await listSessions(desk)
  for (const { id, ready, users, webhookUrl } of readings) {
    const marker = desk.markers.read(webhookUrl)
    const opening = marker !== undefined && (desk.hints.isExpected(marker.url) || desk.doubts.has(marker.url))
    yield {
      id,
      ready,
      users: users.length,
      owned: marker !== undefined,
      label: marker?.label,
      known: opening || desk.ledger.has(id),
    }
  }
}

/** Deletes the sessions of our owner that nobody has; remembers since when it has seen each. */
export function createOrphanReaper(desk: Desk) {
  let firstSeen = new Map<string, number>()

  /** @returns the ids of those that were deleted. */
  return async ({ graceMs = 120_000, isOwned = () => false }: OrphanOptions = {}): Promise<readonly string[]> => {
    const now = desk.clock.now()
    const seen = new Map<string, number>()
    for await (const session of listed(desk)) {
      if (session.owned && !session.known && !(await isOwned(session))) seen.set(session.id, firstSeen.get(session.id) ?? now)
    }
    firstSeen = seen
    const due = [...seen].filter(([, since]) => now - since >= graceMs).map(([id]) => id)
    const deleted = await Promise.all(due.map(async (id) => ((await tryRemoveSession(desk, id, 'orphan')) ? [id] : [])))
    return deleted.flat()
  }
}

/** Looks for the sessions that unanswered creates may have made, and deletes them. */
export async function resolveDoubts(desk: Desk, settleMs: number, longestMs: number): Promise<void> {
  if (desk.doubts.size === 0) return
  const asked = desk.clock.now()
  const { readings, complete } = await listSessions(desk)
  for (const { id, webhookUrl = '' } of readings) {
    if (!desk.doubts.has(webhookUrl)) continue
    await unlessGone(desk.client.delete({ session_id: id }, { timeoutMs: desk.callTimeoutMs }))
    desk.doubts.delete(webhookUrl)
    desk.events.emit('deleted', { sessionId: id, reason: 'doubtful' })
  }
  for (const [url, since] of desk.doubts) {
    if (asked - since >= (complete ? settleMs : longestMs)) desk.doubts.delete(url)
  }
}
