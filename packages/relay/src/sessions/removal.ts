import { unlessGone } from './outcome.js'
import type { DeleteReason, SessionContext } from './session-context.js'

/**
 * Deletes a session. From the first attempt on the session is condemned: every tick tries again until the service
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
 * Deletes a session like `removeSession`, but leaves a failure to the next tick. Resolves with whether it succeeded.
 */
export const tryRemoveSession = (context: SessionContext, sessionId: string, reason: DeleteReason): Promise<boolean> =>
  removeSession(context, sessionId, reason).then(
    () => true,
    () => false,
  )
