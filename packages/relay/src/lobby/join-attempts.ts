import type { Clock } from '@muster/core/clock'
import { addressBlock, createAttempts, type AttemptLimit } from '@muster/core/http'
import { LobbyRefused } from '../errors.js'
import type { LobbyPlayer } from './options.js'

/** Bounds how often a player, an address (of IPv6 a /64) and everybody can fail to join. */
export interface JoinAttempts {
  /**
   * Counts an attempt, and gives what to call when it has ended.
   * @throws {LobbyRefused} with the time to wait.
   */
  take(player: LobbyPlayer): (succeeded: boolean) => void
}

export interface JoinLimits {
  readonly joinsPerPlayer: AttemptLimit | null
  readonly joinsPerAddress: AttemptLimit | null
  readonly joinsOverall: AttemptLimit | null
}

/**
 * For a player and an address what is under way counts too, or a guesser would try all at once. Overall only
 * what failed counts: a thousand who join at the same moment are no attack. What fails beyond the limit is owed.
 */
export function createJoinAttempts(limits: JoinLimits, clock: Clock): JoinAttempts {
  const attemptsOf = (limit: AttemptLimit | null) => (limit === null ? undefined : createAttempts({ ...limit, clock }))
  const perPlayer = attemptsOf(limits.joinsPerPlayer)
  const perAddress = attemptsOf(limits.joinsPerAddress)
  const overall = attemptsOf(limits.joinsOverall)
  const refuseFor = (retryAfterMs = 0) => {
    if (retryAfterMs > 0) throw new LobbyRefused('too-many-attempts', { retryAfterMs })
  }

  return {
    take: ({ id, ip }) => {
      const block = addressBlock(ip)
      refuseFor(overall?.wait(ALL))
      refuseFor(perPlayer?.take(id))
      const waitMs = perAddress?.take(block) ?? 0
      if (waitMs > 0) perPlayer?.giveBack(id)
      refuseFor(waitMs)
      return (succeeded) => {
        if (!succeeded) return overall?.charge(ALL)
        perPlayer?.giveBack(id)
        perAddress?.giveBack(block)
      }
    },
  }
}

const ALL = 'all'
