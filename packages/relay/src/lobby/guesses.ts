import { addressBlock, type AttemptLimit, type LimitStore } from '@muster/core/http'
import { LobbyRefused } from '../errors.js'
import type { LobbyPlayer } from './options.js'

/** Bounds how often one player, one address (of IPv6, one /64) and all players can give a wrong code or password. */
export interface Guesses {
  /**
   * Begins a join that may be a guess; resolves with a function to call when the join has ended.
   * @throws {LobbyRefused} with the time to wait
   */
  begin(player: LobbyPlayer): Promise<(wasWrong: boolean) => void>
}

export interface GuessLimits {
  readonly joinsPerPlayer: AttemptLimit | null
  readonly joinsPerAddress: AttemptLimit | null
  readonly joinsOverall: AttemptLimit | null
}

/**
 * For a player and an address, joins under way count too, or a guesser would try all at once. The overall limit counts
 * wrong joins only: a thousand players joining at the same moment are no attack. Wrong joins beyond that limit delay
 * later ones, by one window at most.
 */
export function createGuesses(limits: GuessLimits, store: LimitStore): Guesses {
  const attemptsOf = (name: keyof GuessLimits) => {
    const limit = limits[name]
    return limit === null ? undefined : store.attempts(name, limit)
  }
  const perPlayer = attemptsOf('joinsPerPlayer')
  const perAddress = attemptsOf('joinsPerAddress')
  const overall = attemptsOf('joinsOverall')

  return {
    begin: async ({ id, ip }) => {
      const block = addressBlock(ip)
      // Nothing is awaited that is counted in this process: each `await` costs more than the count.
      const all = overall?.wait(ALL)
      refuseFor(all instanceof Promise ? await all : all)
      const own = perPlayer?.take(id)
      refuseFor(own instanceof Promise ? await own : own)
      const taken = perAddress?.take(block) ?? 0
      const waitMs = taken instanceof Promise ? await taken : taken
      if (waitMs > 0) perPlayer?.giveBack(id)
      refuseFor(waitMs)
      return (wasWrong) => {
        if (wasWrong) return overall?.charge(ALL)
        perPlayer?.giveBack(id)
        perAddress?.giveBack(block)
      }
    },
  }
}

/** @throws {LobbyRefused} if there is a time to wait */
export function refuseFor(retryAfterMs = 0): void {
  if (retryAfterMs > 0) throw new LobbyRefused('too-many-attempts', { retryAfterMs })
}

const ALL = 'all'
