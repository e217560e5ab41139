import type { Clock } from '@muster/core/clock'
import { RelayNotDeleted } from '../errors.js'
import type { SystemCommand } from './command.js'
import type { Lobby } from './lobby.js'
import type { Runner } from './runner.js'
import type { LobbyStore } from './store.js'

export interface ClosingAll {
  readonly store: LobbyStore
  readonly runner: Runner
  readonly change: (lobbyId: string, command: SystemCommand) => Promise<Lobby>
  readonly clock: Clock
  readonly timeoutMs: number
}

/** Milliseconds between two attempts. */
const PAUSE_MS = 1000

/**
 * Closes every lobby of the store, ends its sessions and tickets, and removes it from the store.
 * @throws {RelayNotDeleted} when that takes too long.
 */
export async function closeAll({ store, runner, change, clock, timeoutMs }: ClosingAll): Promise<void> {
  const deadline = clock.now() + timeoutMs
  for (;;) {
    const left = (await Promise.all((await store.ids()).map(closeOne))).flat()
    if ((await store.ids()).length === 0) return
    if (clock.now() >= deadline) {
      throw new RelayNotDeleted(`${left.length} relay sessions of lobbies may be left`, { sessionIds: left })
    }
    await clock.sleep(PAUSE_MS)
  }

  /** @returns ids of the sessions and tickets that could not be ended. */
  async function closeOne(lobbyId: string): Promise<readonly string[]> {
    const closed = await change(lobbyId, { kind: 'shutDown' }).catch(() => undefined) // gone, or contended
    if (closed === undefined) return []
    const failed = await Promise.all(
      closed.retired.map(({ id }) =>
        runner.end(id).then(
          () => [],
          () => [id],
        ),
      ),
    )
    const left = failed.flat()
    const stored = left.length === 0 ? await store.get(lobbyId) : undefined
    if (stored !== undefined) await store.delete(lobbyId, stored.version)
    return left
  }
}
