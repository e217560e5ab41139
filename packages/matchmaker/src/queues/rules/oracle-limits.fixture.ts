import type { QueueDefinition } from '../queue.js'
import type { RuleDefinition } from './definition.js'
import type { LimitBounds, RelaxingLimit } from '../rule-parts/relaxing.js'
import type { RuleTicket } from '../rule-parts/rule-types.js'

/** A team of a match: the name of its definition, and its tickets. */
export interface JudgedTeam {
  readonly kind: string
  readonly tickets: readonly RuleTicket[]
}

/** A match, and what determines its limits. */
export interface Judged {
  readonly queue: QueueDefinition
  readonly teams: readonly JudgedTeam[]
  readonly tickets: readonly RuleTicket[]
  readonly playing: readonly RuleTicket[]
  readonly now: number
  /** The head start of each ticket, in a queue with `targetWaitMs`. Default: none. */
  readonly headStartOf?: ((ticket: RuleTicket) => number) | undefined
  /** The only team that is compared, for a nested rule that is judged team by team. */
  readonly only?: JudgedTeam | undefined
}

/** Returns a limit after a wait. A line becomes 16 equal steps, never looser than the line. */
export function limitAfter(relaxing: RelaxingLimit, waited: number): number {
  if (typeof relaxing === 'number') return relaxing
  if ('strictest' in relaxing) throw new Error('a limit with `strictest` cannot be computed from the wait alone')
  if ('from' in relaxing) {
    const { from, to, startMs = 0, overMs } = relaxing
    const steps = Math.floor(((waited - startMs) / overMs) * 16)
    return from + ((to - from) * Math.max(0, Math.min(16, steps))) / 16
  }
  let value = Number.NaN
  for (const step of relaxing) if (waited >= step.afterMs) ({ value } = step)
  return value
}

export const hasBounds = (relaxing: RelaxingLimit): relaxing is LimitBounds =>
  typeof relaxing === 'object' && 'strictest' in relaxing

/**
 * Returns the number of steps that a ticket has reached, of the 24 steps from the strictest limit to the loosest. All
 * 24 together take 5 target waits.
 */
export const stepsOf = ({ queue: { targetWaitMs = 0 }, now, headStartOf }: Judged, ticket: RuleTicket): number =>
  Math.max(
    0,
    Math.min(24, Math.floor(((now - ticket.createdAt + (headStartOf?.(ticket) ?? 0)) * 24) / (5 * targetWaitMs))),
  )

/**
 * Returns a limit after some steps: each step by the same factor, or by the same difference if a bound is 0 or less.
 */
export function limitWithin({ strictest, loosest }: LimitBounds, steps: number): number {
  if (steps === 24) return loosest
  return strictest > 0 && loosest > 0
    ? strictest * (loosest / strictest) ** (steps / 24)
    : strictest + (loosest - strictest) * (steps / 24)
}

/** True if any ticket has waited so long that only hard rules apply. */
export const isLastResort = ({ lastResortMs }: QueueDefinition, tickets: readonly RuleTicket[], now: number): boolean =>
  lastResortMs !== undefined && tickets.some(({ createdAt }) => now - createdAt >= lastResortMs)

/**
 * Returns the limit between these tickets (default: all tickets of the match); undefined if the rule does not apply.
 */
export function limitOf(
  rule: RuleDefinition,
  relaxing: RelaxingLimit,
  judged: Judged,
  between = judged.tickets,
): number | undefined {
  const { queue, tickets, now } = judged
  const { by = 'each', optionalAfterMs = Infinity } = rule
  if (isLastResort(queue, tickets, now)) {
    if (rule.hard !== true || optionalAfterMs <= (queue.lastResortMs ?? 0)) return undefined
    return hasBounds(relaxing) ? relaxing.loosest : limitAfter(relaxing, Number.MAX_VALUE)
  }
  const whose = by === 'each' ? between : tickets
  const ofMatch = (values: readonly number[]) =>
    by === 'oldest'
      ? Math.max(...values)
      : by === 'average'
        ? values.reduce((a, b) => a + b) / values.length
        : Math.min(...values)
  if (hasBounds(relaxing))
    return limitWithin(relaxing, Math.floor(ofMatch(whose.map((ticket) => stepsOf(judged, ticket)))))
  const waited = ofMatch(whose.map(({ createdAt }) => now - createdAt))
  return waited >= optionalAfterMs ? undefined : limitAfter(relaxing, waited)
}
