import { unlessGone } from './outcome.js'
import type { DeleteReason, Desk } from './desk.js'

/**
 * Deletes a session. From the first try on it is condemned: if the service does not confirm, every tick
 * tries again until it does.
 */
export async function removeSession(desk: Desk, sessionId: string, reason: DeleteReason): Promise<void> {
  const entry = desk.ledger.get(sessionId)
  if (entry !== undefined) entry.condemned ??= reason
  try {
    await unlessGone(desk.client.delete({ session_id: sessionId }, { timeoutMs: desk.callTimeoutMs }))
  } catch (error) {
    desk.events.emit('deleteFailed', { sessionId, error: error instanceof Error ? error.name : 'Error' })
    throw error
  }
  if (entry?.marker !== undefined) desk.hints.forget(entry.marker.url)
  desk.ledger.delete(sessionId)
  desk.events.emit('deleted', { sessionId, reason: entry?.condemned ?? reason })
}

/** The same, where a failure is left to the next tick. True if it succeeded. */
export const tryRemoveSession = (desk: Desk, sessionId: string, reason: DeleteReason): Promise<boolean> =>
  removeSession(desk, sessionId, reason).then(
    () => true,
    () => false,
  )
