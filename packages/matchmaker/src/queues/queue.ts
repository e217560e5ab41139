import { z } from 'zod'
import { deploySchema, type Deploy, type DeployDefinition } from '../servers/records/deploy.js'
import { InvalidQueue } from '../errors.js'
import { notJson, read } from '../read.js'
import type { RuleDefinition, TeamDefinition } from './rules/definition.js'
import { withDistinctNames, type Rule } from './rules/rule.js'
import { ruleSchema } from './rules/rule-schema.js'
import { waitMs } from './rules/relaxing-schema.js'
import { teamSchema } from './rules/team-schema.js'
import { problemsOfQueue } from './consistency.js'

/** A queue as it is written down: plain data, from JSON if you like (see `queueFromJson`), except for `custom` rules. */
export interface QueueDefinition {
  /** 1 to 64 characters. */
  readonly name: string
  /** Players in a match, 1 to 500: short for one team, called `team`, of exactly so many. Either this or `teams`. */
  readonly matchSize?: number | undefined
  /** At most 500 players in all. */
  readonly teams?: readonly TeamDefinition[] | undefined
  /** Who may play together. Default: anyone. At most 32. */
  readonly rules?: readonly RuleDefinition[] | undefined
  /** Milliseconds for which the oldest ticket of a match waits for full teams before the minimum will do. Default 5000. */
  readonly fillForMs?: number | undefined
  /**
   * Milliseconds of waiting after which a ticket takes the best match there is: of its rules only those that are `hard`
   * count, at their loosest, and those of the other tickets count no more. Less than `expireAfterMs`. Default: never.
   */
  readonly lastResortMs?: number | undefined
  /** Milliseconds after which a ticket that still searches is cancelled. Default 300,000. */
  readonly expireAfterMs?: number | undefined
  /** Failed deployments after which a ticket is cancelled instead of searching again. Default 3. */
  readonly maxAttempts?: number | undefined
  /** Whether a player may be in another ticket at the same time. Default false. */
  readonly playersMayWaitTwice?: boolean | undefined
  /** Whether a player may wait while they play in a match. Default false: they are refused, and told which match it is. */
  readonly playersMayWaitWhilePlaying?: boolean | undefined
  /**
   * What the ticket API believes of a player's own word: names of attributes, and `roles`, `avoid`, `latencies`. All else comes
   * from `authenticate` or `profile`, or from a backend, and a player who says it is refused. At most 64. Default: what no rule
   * of the queue compares; a custom rule is taken to compare everything.
   */
  readonly playerMayState?: readonly string[] | undefined
  /** Whether running matches get players before new matches are made, or after. Default `first`. */
  readonly backfill?: 'first' | 'last' | undefined
  /** All players of a match have to accept it before a server is deployed. Default: nobody is asked. */
  readonly acceptance?: AcceptanceDefinition | undefined
  /** Whether those who leave while the server is deployed are replaced, instead of the match being dissolved. Default false. */
  readonly replaceLeavers?: boolean | undefined
  /** Whether matches are made all at once, every so often, or whenever a ticket arrives. Default `tick`. */
  readonly mode?: 'tick' | 'arrival' | undefined
  readonly deploy: DeployDefinition
}

export interface AcceptanceDefinition {
  /** Milliseconds from MATCH_FOUND; who has not accepted by then has declined. */
  readonly withinMs: number
  /** Whether only those who declined are replaced; otherwise the match is dissolved, and who accepted waits on. Default false. */
  readonly replace?: boolean | undefined
}

type Filled<T> = { readonly [Key in keyof T]-?: Exclude<T[Key], undefined> }

/** A queue that was checked, with every default filled in. */
export interface Queue
  extends Filled<Omit<QueueDefinition, 'matchSize' | 'teams' | 'rules' | 'lastResortMs' | 'playerMayState' | 'acceptance' | 'deploy'>> {
  readonly teams: readonly TeamDefinition[]
  readonly rules: readonly Rule[]
  readonly lastResortMs?: number | undefined
  readonly playerMayState?: readonly string[] | undefined
  readonly acceptance?: Acceptance | undefined
  readonly deploy: Deploy
}

export type Acceptance = Filled<AcceptanceDefinition>

const schema: z.ZodType<Queue> = z
  .strictObject({
    name: z.string().min(1).max(64),
    matchSize: z.int().min(1).max(500).optional(),
    teams: z.array(teamSchema).min(1).optional(),
    rules: z.array(ruleSchema).max(32).default([]),
    fillForMs: waitMs.default(5000),
    lastResortMs: waitMs.optional(),
    expireAfterMs: waitMs.positive().default(300_000),
    maxAttempts: z.int().min(1).default(3),
    playersMayWaitTwice: z.boolean().default(false),
    playersMayWaitWhilePlaying: z.boolean().default(false),
    playerMayState: z.array(z.string().min(1).max(128)).max(64).optional(),
    backfill: z.enum(['first', 'last']).default('first'),
    acceptance: z.strictObject({ withinMs: waitMs.positive(), replace: z.boolean().default(false) }).optional(),
    replaceLeavers: z.boolean().default(false),
    mode: z.enum(['tick', 'arrival']).default('tick'),
    deploy: deploySchema,
  })
  .superRefine(({ matchSize, teams }, context) => {
    if ((matchSize === undefined) === (teams === undefined)) {
      context.addIssue({ code: 'custom', path: ['teams'], message: 'must be given, or matchSize instead' })
    }
  })
  .transform(({ matchSize = 0, teams = [{ name: 'team', count: 1, size: matchSize }], ...queue }, context): Queue => {
    const rules = withDistinctNames(queue.rules)
    const [problem] = problemsOfQueue({ ...queue, teams, rules })
    if (problem !== undefined) context.addIssue({ code: 'custom', path: [...problem.path], message: problem.message })
    return inOneShape({ ...queue, teams, rules })
  })

/** The same fields for all queues, whatever was given: every ticket looks at them, and the engine is quick at what looks alike. */
const inOneShape = (queue: Queue): Queue => ({
  name: queue.name,
  teams: queue.teams,
  rules: queue.rules,
  fillForMs: queue.fillForMs,
  lastResortMs: queue.lastResortMs,
  expireAfterMs: queue.expireAfterMs,
  maxAttempts: queue.maxAttempts,
  playersMayWaitTwice: queue.playersMayWaitTwice,
  playersMayWaitWhilePlaying: queue.playersMayWaitWhilePlaying,
  playerMayState: queue.playerMayState,
  backfill: queue.backfill,
  acceptance: queue.acceptance,
  replaceLeavers: queue.replaceLeavers,
  mode: queue.mode,
  deploy: queue.deploy,
})

/**
 * Checks a queue and fills in its defaults. What it returns may be given to it again.
 * @throws {InvalidQueue} naming the queue, the path and the value, e.g. `queue "duel": matchSize: …, got 0`.
 */
export function defineQueue(definition: QueueDefinition): Queue {
  const name: unknown = (definition as Partial<QueueDefinition> | null)?.name
  const which = typeof name === 'string' ? `queue ${JSON.stringify(name.slice(0, 64))}: ` : 'queue: '
  return read(schema, definition, (field, message) => new InvalidQueue(which + message, { field }))
}

/**
 * The same, from the text of a JSON document.
 * @throws {InvalidQueue} also where the text is no JSON, or has a `custom` rule: that is a function.
 */
export function queueFromJson(text: string): Queue {
  let definition: unknown
  try {
    definition = JSON.parse(text)
  } catch {
    // What JSON.parse throws quotes the text, and with it perhaps a secret.
    throw new InvalidQueue(`queue: ${notJson(text)}`, { field: '' })
  }
  return defineQueue(definition as QueueDefinition)
}
