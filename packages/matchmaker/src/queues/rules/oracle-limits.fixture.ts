import type { QueueDefinition } from '../queue.js'
import type { RuleDefinition } from './definition.js'
import type { Relaxing } from './relaxing.js'
import type { RuleTicket } from './facts.js'

/** A team of a match: the name of its definition, and who is in it. */
export interface JudgedTeam {
  readonly kind: string
  readonly tickets: readonly RuleTicket[]
}

/** A match with what decides which limits apply to it. */
export interface Judged {
  readonly queue: QueueDefinition
  readonly teams: readonly JudgedTeam[]
  readonly tickets: readonly RuleTicket[]
  readonly playing: readonly RuleTicket[]
  readonly now: number
}

/** A limit after so long a wait. Lines are stairs of 16 steps beneath them. */
export function limitAfter(relaxing: Relaxing, waited: number): number {
  if (typeof relaxing === 'number') return relaxing
  if ('from' in relaxing) {
    const { from, to, startMs = 0, overMs } = relaxing
    const steps = Math.floor(((waited - startMs) / overMs) * 16)
    return from + ((to - from) * Math.max(0, Math.min(16, steps))) / 16
  }
  let value = Number.NaN
  for (const step of relaxing) if (waited >= step.afterMs) ({ value } = step)
  return value
}

/** Whether somebody has waited so long that only hard rules count. */
export const isLastResort = ({ lastResortMs }: QueueDefinition, tickets: readonly RuleTicket[], now: number): boolean =>
  lastResortMs !== undefined && tickets.some(({ createdAt }) => now - createdAt >= lastResortMs)

/** The limit that counts between these tickets, or all if none are given; undefined where the rule does not count. */
export function limitOf(
  rule: RuleDefinition,
  relaxing: Relaxing,
  { queue, tickets, now }: Judged,
  between = tickets,
): number | undefined {
  const { by = 'each', optionalAfterMs = Infinity } = rule
  if (isLastResort(queue, tickets, now)) {
    return rule.hard === true && optionalAfterMs > (queue.lastResortMs ?? 0)
      ? limitAfter(relaxing, Number.MAX_VALUE)
      : undefined
  }
  const waits = (by === 'each' ? between : tickets).map(({ createdAt }) => now - createdAt)
  const waited =
    by === 'oldest'
      ? Math.max(...waits)
      : by === 'average'
        ? waits.reduce((a, b) => a + b) / waits.length
        : Math.min(...waits)
  return waited >= optionalAfterMs ? undefined : limitAfter(relaxing, waited)
}
