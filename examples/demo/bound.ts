// pure: what kept a crowd from getting more servers, by what was measured
import { operations } from '@muster/core/api'
import type { Inspection } from '@muster/matchmaker'

/** Why no more servers were created for a while: the service's limit, this process, or a bound of the matchmaker. */
export type Cause = 'creates' | 'process' | NonNullable<Inspection['blockedBy']>

/** What was scarce while players were matched, as measured. */
export interface Pressure {
  /** From the first match to the end of the last ticket. */
  readonly seconds: number
  /** Creates sent in this time. */
  readonly creates: number
  /** Part of this time in which the process's one thread worked, from 0 to 1. */
  readonly busy: number
  /** What kept more servers from being created, by the seconds in which it did. */
  readonly causes: Readonly<Partial<Record<Cause, number>>>
}

/** What was measured between two looks. */
export interface Measured {
  readonly seconds: number
  readonly creates: number
  readonly busy: number
  readonly blockedBy: Inspection['blockedBy']
}

const PER_SECOND = new Map(operations).get('deployments.create')?.limit?.limit ?? Infinity

/** Of what the limit allows: from here on the limit is what holds. */
const NEAR_THE_LIMIT = 0.8
/** Of the time: a thread this busy has none to spare. */
const NO_TIME = 0.9
/** Of the time: what held for less is not worth telling. */
const WORTH_TELLING = 0.15
/** Of all players. Some find nobody to play with however many servers there are. */
const MANY_WITHOUT = 0.1

/**
 * `maxStarting` comes last: starting servers also pile up when the limit makes creates wait or the process has no time
 * for answers. The other bounds apply by themselves.
 */
export function causeOf({ seconds, creates, busy, blockedBy }: Measured): Cause | undefined {
  if (creates >= NEAR_THE_LIMIT * PER_SECOND * seconds) return 'creates'
  if (blockedBy !== undefined && blockedBy !== 'maxStarting') return blockedBy
  return busy >= NO_TIME ? 'process' : blockedBy
}

/** In words, what held for longest first; undefined where most found a match, or nothing was seen to hold. */
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
  /** Players who found no match in time. */
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
