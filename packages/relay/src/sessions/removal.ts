import { unlessGone } from './outcome.js'
import type { DeleteReason, SessionContext } from './session-context.js'

/**
 * Deletes a session. From the first try on it is condemned: if the service does not confirm, every tick
 * tries again until it does.
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

/** The same, where a failure is left to the next tick. True if it succeeded. */
export const tryRemoveSession = (context: SessionContext, sessionId: string, reason: DeleteReason): Promise<boolean> =>
  removeSession(context, sessionId, reason).then(
    () => true,
    () => false,
  )
