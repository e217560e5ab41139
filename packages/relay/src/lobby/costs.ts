import type { Clock } from '@muster/core/clock'
import { createAttempts, type AttemptLimit } from '@muster/core/http'
import { LobbyRefused } from '../errors.js'
import { createKeyedLock } from '../keyed-lock.js'
import type { Command } from './command.js'
import type { LobbyEvent } from './event.js'
import { refuseFor } from './guesses.js'
import type { LobbyStore } from './store.js'

/** Bounds what one player can cost: lobbies, and what they become. */
export interface Costs {
  /** Does what makes the player a member of one more lobby. @throws {LobbyRefused} */
  enter<T>(player: { readonly id: string }, task: () => Promise<T>): Promise<T>
  /** The same for a lobby that is made. @throws {LobbyRefused} */
  create<T>(player: { readonly id: string }, task: () => Promise<T>): Promise<T>
  /** Asked before a player's command is carried out. @throws {LobbyRefused} */
  admit(command: Command): void
  /** Counts what a command brought about. */
  happened(command: Command, events: readonly LobbyEvent[]): void
}

export interface CostLimits {
  readonly createsPerPlayer: AttemptLimit | null
  readonly lobbiesPerPlayer: number | null
  readonly sessionsPerPlayer: AttemptLimit | null
}

export function createCosts(limits: CostLimits, store: LobbyStore, clock: Clock): Costs {
  const { createsPerPlayer, lobbiesPerPlayer, sessionsPerPlayer } = limits
  const creates = createsPerPlayer === null ? undefined : createAttempts({ ...createsPerPlayer, clock })
  const sessions = sessionsPerPlayer === null ? undefined : createAttempts({ ...sessionsPerPlayer, clock })
  // Who enters two at once would be counted in neither.
  const lock = createKeyedLock()

  const enter: Costs['enter'] = (player, task) => {
    if (lobbiesPerPlayer === null) return task()
    return lock.run(player.id, async () => {
      if ((await store.idsOf(player.id)).length >= lobbiesPerPlayer) throw new LobbyRefused('too-many-lobbies')
      return task()
    })
  }

  return {
    enter,
    create: async (player, task) => {
      refuseFor(creates?.take(player.id))
      return enter(player, task)
    },
    admit: (command) => {
      if (command.kind === 'start' || command.kind === 'transferHost') refuseFor(sessions?.wait(command.playerId))
    },
    happened: (command, events) => {
      // A player who leaves as the host cannot be kept from it, but pays for the session that the next host needs.
      if ('playerId' in command) for (const { type } of events) if (isNewRun(type)) sessions?.charge(command.playerId)
    },
  }
}

const isNewRun = (type: LobbyEvent['type']) => type === 'lobby.starting' || type === 'relay.moving'
