// pure: a rule as the kernel and `explain` use it
import type { MatchLevels, Need, Radius, Span } from '@muster/kernel'
import type { Facts, Refuse, RuleTicket, Teams } from './facts.js'
import type { Levels } from './levels.js'
import type { Rule } from './rule.js'
import type { NamedTeam } from './team-shapes.js'
import type { Scalar } from './values.js'

/** What a rule is compiled with. */
export interface RuleContext {
  /** Index of the rule in its queue, and of its entry in `Facts.of`. */
  readonly index: number
  readonly queue: string
  readonly levels: Levels
  /**
   * Whether the rule is within another rule. Inner rules have no radius, span or key: the kernel has those only for the
   * rules of the queue.
   */
  readonly isInner?: boolean | undefined
  readonly teams: readonly NamedTeam[]
  /** Called with what a custom rule throws. */
  readonly failed: (rule: string, error: unknown) => void
}

/**
 * A rule as checks of tickets; see `Checks` for `pair`, `part`, `whole`, `unevenness` and `needs`. All fields are
 * optional: a rule without any lets everyone in.
 */
export interface CompiledRule {
  readonly rule: Rule
  /**
   * Reads from a ticket what the rule compares. A ticket without players has no such fact. @throws what `refuse` makes
   */
  readonly factOf?: ((ticket: RuleTicket, refuse: Refuse) => unknown) | undefined
  readonly radius?: Radius | undefined
  readonly span?: Span | undefined
  /** Low and high of the ticket in the span; NaN if the ticket goes with any value. @throws what `refuse` makes */
  readonly boundsOf?: ((ticket: RuleTicket, refuse: Refuse) => readonly [low: number, high: number]) | undefined
  /** The ticket's key: only tickets with the same key meet. @throws what `refuse` makes */
  readonly keyOf?: ((ticket: RuleTicket, refuse: Refuse) => Scalar) | undefined
  readonly pair?: ((one: Facts, other: Facts, level: number) => boolean) | undefined
  readonly part?:
    ((teams: Teams, roomOf: readonly number[], levels: MatchLevels, others?: readonly Facts[]) => boolean) | undefined
  readonly needs?: readonly Need<Facts>[] | undefined
  /** Whether `whole` depends on the time beyond the levels. */
  readonly timed?: boolean | undefined
  readonly whole?: ((teams: Teams, levels: MatchLevels) => boolean) | undefined
  /**
   * How far two tickets are apart, in the unit of the limit; undefined if there is nothing to measure. For `explain`.
   */
  readonly measure?: ((one: Facts, other: Facts) => number | undefined) | undefined
  /** How many players of another kind a match needs, even if all of these tickets are in it. For `explain`. */
  readonly shortage?: ((everyone: readonly Facts[]) => number) | undefined
  readonly unevenness?: ((teams: Teams) => number) | undefined
}
