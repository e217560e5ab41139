import type { Clock } from '@muster/core/clock'
import { LobbyRefused } from '../errors.js'
import type { Command } from './command.js'
import type { LobbyEvent } from './event.js'
import { dueAt } from './expiry.js'
import type { Lobby } from './lobby.js'
import type { LobbyRules } from './rules.js'
import { isRefusal, step } from './step.js'
import type { LobbyStore } from './store.js'

export interface Changing {
  readonly store: LobbyStore
  readonly clock: Clock
  readonly rules: LobbyRules
  /** Called after every change that was stored. */
  readonly changed: (lobby: Lobby, events: readonly LobbyEvent[], command: Command) => void
}

/** Attempts after which a change gives up, because other changes of the same lobby were stored first each time. */
const MOST_TRIES = 200

/**
 * Applies a command to the stored lobby in one atomic step; starts again if the lobby was changed meanwhile.
 * @throws {LobbyRefused}
 */
export function createChange({ store, clock, rules, changed }: Changing) {
  return async (lobbyId: string, command: Command): Promise<Lobby> => {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const stored = await store.get(lobbyId)
      if (stored === undefined) throw new LobbyRefused(command.kind === 'join' ? 'not-joinable' : 'no-such-lobby')
      const now = clock.now()
      const result = step(command, stored.lobby, now, rules)
      if (isRefusal(result)) throw new LobbyRefused(result.refused)
      const { lobby, events, onlySeen } = result
      if (lobby === stored.lobby) return lobby
      const due = dueAt(lobby, now, rules)
      const isStored =
        onlySeen === undefined
          ? store.replace(lobby, stored.version, due)
          : store.noteSeen(lobby, stored.version, onlySeen, due)
      if (await isStored) {
        changed(lobby, events, command)
        return lobby
      }
    }
    throw new LobbyRefused('busy')
  }
}
