import { createTicker } from '@muster/core/internal'
import { RelayNotDeleted } from '../errors.js'
import { resolveDoubts, tryRemoveSession } from './orphans.js'
import type { DeleteReason, OwnedSession, SessionContext } from './session-context.js'
import type { RelaySessionsConfig } from './session-options.js'

/** Milliseconds between two attempts to delete everything. */
const CLOSE_PAUSE_MS = 1000

/** Deletes sessions that are not needed any more, orphans, and sessions of lost creates, as long as any are left. */
export class Upkeep {
  /** Starts the ticks, because something is left to delete. */
  readonly wake: () => void
  /** Ends the ticks. */
  readonly stop: () => Promise<void>
  readonly #context: SessionContext
  readonly #config: RelaySessionsConfig

  constructor(context: SessionContext, config: RelaySessionsConfig) {
    this.#context = context
    this.#config = config
    const tick = () => this.tick()
    const isNeeded = () => this.#left() > 0
    const ticker = createTicker({ clock: context.clock, everyMs: config.tickMs, tick, isNeeded })
    this.wake = ticker.wake
    this.stop = ticker.stop
  }

  async tick(): Promise<void> {
    const { clock, ledger } = this.#context
    const { settleMs, maxLifetimeMs } = this.#config
    const now = clock.now()
    const due = [...ledger.values()].flatMap((entry) => {
      const reason = this.#dueReason(entry, now)
      return reason === undefined ? [] : [tryRemoveSession(this.#context, entry.session.id, reason)]
    })
    await Promise.all([...due, ...this.#deleteOrphans()])
    await resolveDoubts(this.#context, settleMs, maxLifetimeMs).catch(() => {}) // The next tick searches again.
  }

  /** Deletes all sessions. @throws {RelayNotDeleted} if some may be left at the deadline */
  async deleteAll(deadline: number): Promise<void> {
    const { clock, ledger, orphans, doubts } = this.#context
    const { settleMs } = this.#config
    for (;;) {
      const removals = [...ledger.keys()].map((sessionId) => tryRemoveSession(this.#context, sessionId, 'closing'))
      await Promise.all([...removals, ...this.#deleteOrphans()])
      await resolveDoubts(this.#context, settleMs, settleMs).catch(() => {})
      if (this.#left() === 0) return
      if (clock.now() >= deadline) break
      await clock.sleep(CLOSE_PAUSE_MS)
    }
    const sessionIds = [...ledger.keys(), ...orphans]
    throw new RelayNotDeleted(
      `${sessionIds.length} relay sessions, and those of ${doubts.size} creates without an answer, may still exist`,
      { sessionIds },
    )
  }

  #dueReason({ session, lastUsedAt, condemned }: OwnedSession, now: number): DeleteReason | undefined {
    const { idleMs, maxLifetimeMs } = this.#config
    if (condemned !== undefined) return condemned
    if (now - session.openedAt >= maxLifetimeMs) return 'too old'
    return idleMs !== null && now - lastUsedAt >= idleMs ? 'idle' : undefined
  }
  #deleteOrphans(): Promise<void>[] {
    const { orphans } = this.#context
    return [...orphans].map(async (sessionId) => {
      if (await tryRemoveSession(this.#context, sessionId, 'orphan')) orphans.delete(sessionId)
    })
  }
  #left(): number {
    const { ledger, doubts, orphans } = this.#context
    return ledger.size + doubts.size + orphans.size
  }
}
