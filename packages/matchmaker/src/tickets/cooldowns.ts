import { PlayerCoolingDown } from '../errors.js'
import { type CooldownState, forgottenAt, type Offence, offend, type Queue } from '../queues/index.js'

/** A cooldown of a player as plain data, without addresses. */
export interface Cooldown extends CooldownState {
  readonly playerId: string
  /** Name of the cooldown: that of the queue, or a name that several queues share. */
  readonly name: string
}

/** The fields of a queue that cooldowns read. Seats on listed servers use cooldowns too, without a real queue. */
type CooldownQueue = Pick<Queue, 'name' | 'cooldown'>

/** The cooldowns of players who have declined, not accepted or left a match. */
export interface Cooldowns {
  /** Records an offence of players in a match of the queue, if the queue counts it. */
  count(queue: CooldownQueue, playerIds: readonly string[], offence: Offence, now: number): void
  /**
   * Checks that the player has no cooldown in the queue.
   * @throws {PlayerCoolingDown} if the player may not wait in the queue
   */
  check(playerId: string, queue: CooldownQueue, now: number): void
  /** Returns the player's cooldowns that still count. */
  of(playerId: string, now: number): readonly Cooldown[]
  /** Deletes the player's cooldowns. Returns true if there were any. */
  forgive(playerId: string, now: number): boolean
  all(now: number): readonly Cooldown[]
  /**
   * Loads cooldowns of an earlier process. If a player has two of the same name, the one that ends later stays. If the
   * clock was set back meanwhile, none becomes longer than the queues of its name allow.
   */
  load(cooldowns: readonly Cooldown[], now: number): void
  /** Checks the next `SWEPT` players, and deletes their cooldowns that no longer count. */
  advance(now: number): void
}

export interface CooldownsOptions {
  /** Called when a cooldown begins or becomes longer. */
  readonly began: (cooldown: Cooldown, queue: CooldownQueue, offence: Offence) => void
  /** Called when a stored cooldown changes. @param state undefined if it is deleted. */
  readonly changed: (playerId: string, name: string, state: CooldownState | undefined) => void
  /** Returns the queues in operation. */
  readonly queues: () => readonly CooldownQueue[]
  /** Maximum number of players with cooldowns. Default 100,000. */
  readonly mostPlayers?: number | undefined
}

/**
 * Maximum number of players with cooldowns (our choice). Beyond it, the cooldowns that changed least recently are
 * dropped.
 */
const MOST_PLAYERS = 100_000
/** Number of players checked in each tick. With the default `tickMs`, 100,000 players are checked within a minute. */
const SWEPT = 500

/** Returns the name under which a queue's cooldowns are kept. */
export const cooldownName = ({ name, cooldown }: CooldownQueue): string => cooldown?.name ?? name

const NONE: readonly never[] = Object.freeze([])

/** Returns the maximum milliseconds of a cooldown with this name. Infinity if no queue has it. */
function longestMs(name: string, queues: readonly CooldownQueue[]): number {
  const terms = queues.flatMap((queue) => (cooldownName(queue) === name ? (queue.cooldown ?? []) : []))
  return terms.length === 0 ? Infinity : Math.max(...terms.map(({ maxMs }) => maxMs))
}

export function createCooldowns(options: CooldownsOptions): Cooldowns {
  const { began, changed, queues, mostPlayers = MOST_PLAYERS } = options
  /** Cooldowns by player, ordered by their last changes. */
  const byPlayer = new Map<string, readonly Cooldown[]>()
  /** Iterates over all players repeatedly. */
  let sweep = byPlayer.keys()

  const find = (playerId: string, name: string): Cooldown | undefined =>
    byPlayer.get(playerId)?.find((one) => one.name === name)

  const replace = (playerId: string, kept: readonly Cooldown[]) => {
    byPlayer.delete(playerId)
    if (kept.length > 0) byPlayer.set(playerId, Object.freeze(kept))
  }
  const remove = (gone: Cooldown) => {
    const { playerId, name } = gone
    replace(
      playerId,
      (byPlayer.get(playerId) ?? NONE).filter((one) => one !== gone),
    )
    changed(playerId, name, undefined)
  }
  const set = (cooldown: Cooldown) => {
    const { playerId, name, offences, until, forgiveAfterMs } = cooldown
    const others = (byPlayer.get(playerId) ?? NONE).filter((one) => one.name !== name)
    replace(playerId, [...others, Object.freeze(cooldown)])
    changed(playerId, name, { offences, until, forgiveAfterMs })
    if (byPlayer.size <= mostPlayers) return
    const [oldest = NONE] = byPlayer.values()
    for (const one of oldest) remove(one)
  }

  /** Returns the player's cooldowns, after removing those that no longer count. */
  const current = (playerId: string, now: number): readonly Cooldown[] => {
    for (const one of byPlayer.get(playerId) ?? NONE) if (forgottenAt(one) <= now) remove(one)
    return byPlayer.get(playerId) ?? NONE
  }

  return {
    count: (queue, playerIds, offence, now) => {
      const terms = queue.cooldown
      if (terms?.for.includes(offence) !== true) return
      const name = cooldownName(queue)
      for (const playerId of playerIds) {
        const cooldown = { playerId, name, ...offend(find(playerId, name), terms, now) }
        set(cooldown)
        began(cooldown, queue, offence)
      }
    },

    check: (playerId, queue, now) => {
      if (queue.cooldown === undefined) return
      const { until = 0 } = find(playerId, cooldownName(queue)) ?? {}
      if (now < until) throw new PlayerCoolingDown(playerId, queue.name, until, now)
    },

    of: current,
    forgive: (playerId, now) => {
      const known = current(playerId, now)
      for (const one of known) remove(one)
      return known.length > 0
    },
    all: (now) => Array.from(byPlayer.keys()).flatMap((playerId) => current(playerId, now)),

    load: (cooldowns, now) => {
      for (const stored of cooldowns) {
        const cooldown = { ...stored, until: Math.min(stored.until, now + longestMs(stored.name, queues())) }
        const { until = 0 } = find(cooldown.playerId, cooldown.name) ?? {}
        if (forgottenAt(cooldown) > now && cooldown.until > until) set(cooldown)
      }
    },

    advance: (now) => {
      for (let looked = 0; looked < SWEPT; looked += 1) {
        const { value, done } = sweep.next()
        if (done !== true) current(value, now)
        else {
          sweep = byPlayer.keys()
          return
        }
      }
    },
  }
}
