import type { Clock } from '@muster/core/clock'
import { addressBlock, createAttempts, type AttemptLimit } from '@muster/core/http'
import { LobbyRefused } from '../errors.js'
import type { LobbyPlayer } from './options.js'

/** Bounds how often a player, an address (of IPv6 a /64) and everybody can try; whoever succeeds has not tried. */
export interface JoinAttempts {
  /**
   * Counts an attempt, and returns how to take it back.
   * @throws {LobbyRefused} with the time to wait.
   */
  take(player: LobbyPlayer): () => void
}

export interface JoinLimits {
  readonly joinsPerPlayer: AttemptLimit | null
  readonly joinsPerAddress: AttemptLimit | null
  readonly joinsOverall: AttemptLimit | null
}

export function createJoinAttempts(limits: JoinLimits, clock: Clock): JoinAttempts {
  const bounds = [
    { limit: limits.joinsPerPlayer, keyOf: ({ id }: LobbyPlayer) => id },
    { limit: limits.joinsPerAddress, keyOf: ({ ip }: LobbyPlayer) => addressBlock(ip) },
    { limit: limits.joinsOverall, keyOf: () => 'all' },
  ].flatMap(({ limit, keyOf }) => (limit === null ? [] : [{ keyOf, attempts: createAttempts({ ...limit, clock }) }]))

  return {
    take: (player) => {
      const taken: (() => void)[] = []
      const giveBack = () => taken.forEach((back) => back())
      for (const { keyOf, attempts } of bounds) {
        const key = keyOf(player)
        const retryAfterMs = attempts.take(key)
        if (retryAfterMs > 0) {
          giveBack()
          throw new LobbyRefused('too-many-attempts', { retryAfterMs })
        }
        taken.push(() => attempts.giveBack(key))
      }
      return giveBack
    },
  }
}
