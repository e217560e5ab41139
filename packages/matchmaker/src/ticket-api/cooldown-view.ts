// pure: a cooldown as backends see it
import { forgottenAt, offencesLeft } from '../queues/cooldown.js'
import type { Cooldown } from '../tickets/cooldowns.js'
import { isoTime } from './views.js'

export interface CooldownView {
  /** The profile, or the name that several profiles share. */
  readonly name: string
  /** How often the player has let others down and it was not forgiven yet. */
  readonly offences: number
  /** Until when the player may not wait; null once that is over. */
  readonly until: string | null
  /** From when nothing of it counts any more. */
  readonly forgotten_at: string
}

/** @param now epoch milliseconds. */
export const cooldownView = (cooldown: Cooldown, now: number): CooldownView => ({
  name: cooldown.name,
  offences: offencesLeft(cooldown, now),
  until: cooldown.until > now ? isoTime(cooldown.until) : null,
  forgotten_at: isoTime(forgottenAt(cooldown)),
})
