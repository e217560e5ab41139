import { LobbyRefused } from '../errors.js'
import type { LobbyTimes } from '../lobby-rules.js'
import type { LobbyCommand } from './command.js'
import type { LobbiesConfig } from './lobby-options.js'
import type { Lobby, LobbyEvent } from './lobby.js'
import { dueAt, isRefusal, step } from './step.js'

/** Maximum number of attempts of a change while other changes of the same lobby are stored first. */
const MOST_TRIES = 200

/**
 * Applies a command to the stored lobby atomically. Retries if the lobby was changed meanwhile.
 * @param timesAt returns the durations, and since when this process can receive requests
 * @param changed called after every stored change.
 * @throws {LobbyRefused}
 */
export function createChange(
  { store, clock }: Pick<LobbiesConfig, 'store' | 'clock'>,
  timesAt: (now: number) => LobbyTimes,
  changed: (lobby: Lobby, events: readonly LobbyEvent[], command: LobbyCommand) => void,
) {
  return async (lobbyId: string, command: LobbyCommand): Promise<Lobby> => {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const stored = await store.get(lobbyId)
      if (stored === undefined) throw new LobbyRefused(command.kind === 'join' ? 'not-joinable' : 'no-such-lobby')
      const now = clock.now()
      const times = timesAt(now)
      const result = step(command, stored.lobby, now, times)
      if (isRefusal(result)) throw new LobbyRefused(result.refused)
      const { lobby, events, onlySeen } = result
      if (lobby === stored.lobby) return lobby
      const due = dueAt(lobby, now, times)
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
