// pure: what limited the number of servers, derived from measurements
import { operations } from '@muster/core/api'
import type { Inspection } from '@muster/matchmaker'

/** Why no more servers were created for a while: the service's limit, this process, or a limit of the matchmaker. */
export type Cause = 'creates' | 'process' | NonNullable<Inspection['blockedBy']>

/** What limited the creation of servers while players were matched. */
export interface Pressure {
  /** Seconds from the first match to the end of the last ticket. */
  readonly seconds: number
  /** Number of creates that were sent in this time. */
  readonly creates: number
  /** Share of this time in which the process's only thread worked, from 0 to 1. */
  readonly busy: number
  /** The causes that limited the creation of servers, with the seconds for which each did. */
  readonly causes: Readonly<Partial<Record<Cause, number>>>
}

/** What was measured between two readings. */
export interface Measured {
  readonly seconds: number
  readonly creates: number
  readonly busy: number
  readonly blockedBy: Inspection['blockedBy']
}

const PER_SECOND = new Map(operations).get('deployments.create')?.limit?.limit ?? Infinity

/** Share of the service's limit of creates from which on the limit counts as the cause. */
const NEAR_THE_LIMIT = 0.8
/** Share of the time from which on the thread counts as fully busy. */
const NO_TIME = 0.9
/** Share of the time for which a cause must have applied to be reported. */
const WORTH_TELLING = 0.15
/**
 * Share of players without a match from which on causes are reported. Some players find no match, whatever the number
 * of servers.
 */
const MANY_WITHOUT = 0.1

/**
 * Returns what limited the creation of servers. `maxStarting` is considered last, because starting servers also
 * accumulate when the service's limit delays creates or when the process has no time for responses. No other limit is
 * reached for these two reasons.
 */
export function causeOf({ seconds, creates, busy, blockedBy }: Measured): Cause | undefined {
  if (creates >= NEAR_THE_LIMIT * PER_SECOND * seconds) return 'creates'
  if (blockedBy !== undefined && blockedBy !== 'maxStarting') return blockedBy
  return busy >= NO_TIME ? 'process' : blockedBy
}

/**
 * Returns the causes in words, the longest first. Undefined if most players found a match, or if no cause was measured.
 */
export function boundOf({ players, expired, pressure }: Crowd): string | undefined {
  if (expired < MANY_WITHOUT * players) return undefined
  const { seconds, creates, causes } = pressure
  const bounds = Object.entries(causes as Record<Cause, number>)
    .filter(([, of]) => of >= WORTH_TELLING * seconds)
    .toSorted(([, a], [, b]) => b - a)
    .map(([cause, of]) => `${wordsOf(cause as Cause, pressure)} (${of.toFixed(0)} of ${seconds.toFixed(0)} s)`)
  return bounds.length === 0
    ? undefined
    : `${bounds.join('; ')}. Sent: ${(creates / seconds).toFixed(1)} creates a second`
}

interface Crowd {
  readonly players: number
  /** Number of players who found no match in time. */
  readonly expired: number
  readonly pressure: Pressure
}

function wordsOf(cause: Cause, { busy }: Pressure): string {
  if (cause === 'creates') return `the service's limit of ${PER_SECOND} creates per second`
  const share = `${Math.round(100 * busy)} % of the time`
  if (cause === 'process')
    return `this process, which is players, matchmaker and service at once, and was busy ${share}`
  return cause === 'paused' || cause === 'store' ? `the matchmaker: ${cause}` : `${cause} of the matchmaker`
}
