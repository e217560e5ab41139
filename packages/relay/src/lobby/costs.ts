import type { AttemptLimit, LimitStore } from '@muster/core/http'
import { whenKnown, type Awaitable } from '@muster/core/runtime'
import { LobbyRefused } from '../errors.js'
import { createKeyedLock } from '../keyed-lock.js'
import type { Command } from './command.js'
import type { LobbyEvent } from './event.js'
import { refuseFor } from './guesses.js'
import type { LobbyStore } from './store.js'

/** Bounds what one player can cost: lobbies, and the sessions or matches these become. */
export interface Costs {
  /** Runs a task that makes the player a member of one more lobby. @throws {LobbyRefused} */
  enter<T>(player: { readonly id: string }, task: () => Promise<T>): Promise<T>
  /** Runs a task that creates a lobby. @throws {LobbyRefused} */
  create<T>(player: { readonly id: string }, task: () => Promise<T>): Promise<T>
  /** Checks a player's command before it is carried out. @throws {LobbyRefused} */
  admit(command: Command): Awaitable<void>
  /** Counts the new sessions or matches that a command caused. */
  happened(command: Command, events: readonly LobbyEvent[]): void
}

export interface CostLimits {
  readonly createsPerPlayer: AttemptLimit | null
  readonly lobbiesPerPlayer: number | null
  readonly sessionsPerPlayer: AttemptLimit | null
}

export function createCosts(limits: CostLimits, store: LobbyStore, limitStore: LimitStore): Costs {
  const { createsPerPlayer, lobbiesPerPlayer, sessionsPerPlayer } = limits
  const creates = createsPerPlayer === null ? undefined : limitStore.attempts('createsPerPlayer', createsPerPlayer)
  const sessions = sessionsPerPlayer === null ? undefined : limitStore.attempts('sessionsPerPlayer', sessionsPerPlayer)
  // Two joins of one player at the same time would not count each other, so they run one after the other.
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
      refuseFor(await creates?.take(player.id))
      return enter(player, task)
    },
    admit: (command) => {
      if (command.kind !== 'start' && command.kind !== 'transferHost') return
      return whenKnown(sessions?.wait(command.playerId), refuseFor)
    },
    happened: (command, events) => {
      // A host cannot be kept from leaving, but is charged for the session that the next host needs.
      if ('playerId' in command) for (const { type } of events) if (isNewRun(type)) sessions?.charge(command.playerId)
    },
  }
}

const isNewRun = (type: LobbyEvent['type']) => type === 'lobby.starting' || type === 'relay.moving'
