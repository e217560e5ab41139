// pure: a rule as the kernel and `explain` use it
import type { MatchLevels, Need, Radius, Span } from '../../kernel/model.js'
import type { Facts, Refuse, RuleTicket, Teams } from './facts.js'
import type { Levels } from './levels.js'
import type { Rule } from './rule.js'
import type { NamedTeam } from './team-shapes.js'
import type { Scalar } from './values.js'

/** What a rule is compiled for. */
export interface RuleContext {
  /** Of the rule in its queue, and of what it knows in `Facts.of`. */
  readonly index: number
  readonly queue: string
  readonly levels: Levels
  /**
   * Whether it is within another rule: then it uses neither radius, span nor key, which are for the rules of the queue.
   */
  readonly isInner?: boolean | undefined
  readonly teams: readonly NamedTeam[]
  /** Is told what a custom rule throws. */
  readonly failed: (rule: string, error: unknown) => void
}

/**
 * What a rule says about tickets; see `Checks` for `pair`, `part`, `whole`, `unevenness` and `needs`. All fields may be
 * missing: a rule that has none of them lets everyone in.
 */
export interface CompiledRule {
  readonly rule: Rule
  /** What of the ticket the others need; nothing of a ticket without players is needed. @throws what `refuse` makes. */
  readonly factOf?: ((ticket: RuleTicket, refuse: Refuse) => unknown) | undefined
  readonly radius?: Radius | undefined
  readonly span?: Span | undefined
  /** Low and high for the span; not a number where it goes with anything. */
  readonly boundsOf?: ((ticket: RuleTicket, refuse: Refuse) => readonly [low: number, high: number]) | undefined
  /** Only tickets with the same meet. */
  readonly keyOf?: ((ticket: RuleTicket, refuse: Refuse) => Scalar) | undefined
  readonly pair?: ((one: Facts, other: Facts, level: number) => boolean) | undefined
  readonly part?:
    ((teams: Teams, roomOf: readonly number[], levels: MatchLevels, others?: readonly Facts[]) => boolean) | undefined
  readonly needs?: readonly Need<Facts>[] | undefined
  /** Whether `whole` asks for more of the time than the levels. */
  readonly timed?: boolean | undefined
  readonly whole?: ((teams: Teams, levels: MatchLevels) => boolean) | undefined
  /**
   * In the unit of its limit, how two tickets stand to one another; undefined if there is nothing to measure. For
   * `explain`.
   */
  readonly measure?: ((one: Facts, other: Facts) => number | undefined) | undefined
  /** How many players of another kind a match needs, if all of these may be in it. For `explain`. */
  readonly shortage?: ((everyone: readonly Facts[]) => number) | undefined
  readonly unevenness?: ((teams: Teams) => number) | undefined
}
