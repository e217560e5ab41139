import { type Fault, read, readJson, validateAll } from '@muster/core/internal'
import { type Deploy, type DeployDefinition, deploySchema, ShownName } from '@muster/hosting/internal'
import { z } from 'zod'
import { InvalidQueue } from '../errors.js'
import type { CooldownDefinition, CooldownTerms, Offence } from './cooldown-terms.js'
import { type TeamDefinition, teamSchema, waitMs } from './rule-parts/index.js'
import {
  innerRulesOf,
  ratingAttributesOf,
  type Rule,
  type RuleDefinition,
  ruleSchema,
  withDistinctNames,
} from './rules/index.js'
import { type PoolOfQueue, withPool } from './queue-pool.js'
import { problemsOfQueue } from './validate-queue.js'

/**
 * True if a queue trusts a player's own statement: of an attribute with that name, or of `roles`, `avoid` or
 * `latencies`.
 */
export type PlayerMayState = (name: string) => boolean

/**
 * Returns a function that tells which statements of players a queue trusts: those that its `playerMayState` lists.
 * Without a list, everything that none of its rules compares. Latencies are trusted in both cases unless a rule
 * compares them, because game clients send them to every queue.
 */
export function playerMayState({ playerMayState: listed, rules }: Queue): PlayerMayState {
  const compared = new Set(rules.flatMap(comparedBy))
  if (listed !== undefined) {
    const believed = new Set(compared.has('latencies') ? listed : [...listed, 'latencies'])
    return (name) => believed.has(name)
  }
  // A custom rule may read every attribute and the roles.
  if (rules.some(isCustom)) return (name) => (name === 'latencies' || name === 'avoid') && !compared.has(name)
  return (name) => !compared.has(name)
}

/** True if a rule of the queue reads latencies: a latency rule, or a custom rule, which may read anything. */
export const readsLatencies = ({ rules }: Queue): boolean =>
  rules.some((rule) => isCustom(rule) || comparedBy(rule).includes('latencies'))

/** Returns the attributes that a rule or its nested rules compare. */
export function attributesComparedBy(rule: RuleDefinition): string[] {
  const compared = innerRulesOf(rule).flatMap(attributesComparedBy)
  if ('attribute' in rule && rule.attribute !== undefined) compared.push(rule.attribute)
  if (rule.kind === 'accepts') compared.push(rule.own)
  if (rule.kind === 'balance') compared.push(...ratingAttributesOf(rule))
  return compared
}

/** Returns what a rule or its nested rules compare: names of attributes, and `roles`, `avoid` or `latencies`. */
function comparedBy(rule: RuleDefinition): string[] {
  const inner = [...innerRulesOf(rule).flatMap(comparedBy), ...attributesComparedBy(rule)]
  if (rule.kind === 'roles' || rule.kind === 'avoid') inner.push(rule.kind)
  if (rule.kind === 'latency') inner.push('latencies')
  return inner
}

const isCustom = (rule: RuleDefinition): boolean => rule.kind === 'custom' || innerRulesOf(rule).some(isCustom)

const USUAL = ['declined', 'not-accepted', 'left'] as const satisfies readonly Offence[]
const OFFENCES = [...USUAL, 'left-running'] as const satisfies readonly Offence[]

const cooldownSchema: z.ZodType<CooldownTerms> = z
  .strictObject({
    name: ShownName.optional(),
    firstMs: waitMs.positive().default(30_000),
    factor: z.number().min(1).max(100).default(2),
    maxMs: waitMs.positive().optional(),
    forgiveAfterMs: waitMs.positive().default(3_600_000),
    for: z.array(z.enum(OFFENCES)).default([...USUAL]),
  })
  .transform(({ name, maxMs, ...terms }, context): CooldownTerms => {
    const most = maxMs ?? Math.max(900_000, terms.firstMs)
    if (most < terms.firstMs)
      context.addIssue({ code: 'custom', path: ['maxMs'], message: `must not be less than firstMs, ${terms.firstMs}` })
    return { name, ...terms, maxMs: most }
  })

/** The default cooldown of a queue with `acceptance`. */
const cooldownOfAcceptance: CooldownTerms = cooldownSchema.parse({
  for: ['declined', 'not-accepted'],
} satisfies CooldownDefinition)

/** The definition of a queue: plain data, e.g. from JSON (see `queueFromJson`), except for `custom` rules. */
export interface QueueDefinition {
  /** Name of the queue, 1 to 64 characters. */
  readonly name: string
  /** Players in a match, 1 to 500. Shorthand for one team of that size, called `team`. Give either this or `teams`. */
  readonly matchSize?: number | undefined
  /** The teams of a match, with at most 500 players in total. */
  readonly teams?: readonly TeamDefinition[] | undefined
  /** Rules about who may play together, at most 32. Default: no restriction. */
  readonly rules?: readonly RuleDefinition[] | undefined
  /** Milliseconds that a match's oldest ticket waits for full teams before minimum sizes suffice. Default 5000. */
  readonly fillForMs?: number | undefined
  /**
   * Milliseconds of waiting after which a ticket accepts any match that satisfies the `hard` rules at their loosest
   * limit. This also applies to the tickets it is matched with. Less than `expireAfterMs`. Default: never.
   */
  readonly lastResortMs?: number | undefined
  /**
   * Target wait in milliseconds: nine of ten tickets wait at most this long for a match, as far as the limits' bounds
   * allow. Limits relax by the recent arrivals and waits in each region, instead of at fixed times. At least 1000, and
   * less than `expireAfterMs`. At least one limit has bounds, e.g. `max: { strictest: 50, loosest: 800 }`. Default:
   * limits relax as defined.
   */
  readonly targetWaitMs?: number | undefined
  /**
   * Weights from 0 to 100 for choosing the members of a match. Keys: `distance`, the attribute of each `difference`
   * rule, `waiting` (prefers long waits), and `parties` (prefers parties, which are hard to place). Distance and
   * differences are divided by their strictest limits. Default 1, but 0 for the second and further difference rules.
   */
  readonly prefer?: Readonly<Record<string, number>> | undefined
  /** Delays matches in favour of cheaper ones. Default: a match is made as soon as the rules allow it. */
  readonly patience?: PatienceDefinition | undefined
  /** Milliseconds after which a searching ticket is cancelled. Default 300,000. */
  readonly expireAfterMs?: number | undefined
  /** Failed deployments after which a ticket is cancelled instead of searching again. Default 3. */
  readonly maxAttempts?: number | undefined
  /** Allows a player to be in several waiting tickets at a time. Default false. */
  readonly playersMayWaitTwice?: boolean | undefined
  /** Allows a player to wait while playing. Default false: the ticket is refused with an error that names the match. */
  readonly playersMayWaitWhilePlaying?: boolean | undefined
  /**
   * What players may state about themselves through the ticket API: names of attributes, and `roles`, `avoid`,
   * `latencies`. Everything else comes from `authenticate`, `profile` or a backend. If a player states anything else,
   * the ticket is refused. At most 64 names. Default: everything that no rule of the queue compares. A custom rule
   * counts as comparing everything.
   */
  readonly playerMayState?: readonly string[] | undefined
  /**
   * Whether backfills of running matches get waiting tickets before new matches do, or after. While there are more
   * matches than servers, always before. Default `first`.
   */
  readonly backfill?: 'first' | 'last' | undefined
  /**
   * Cancels a ticket as `absent` if the client of one of its players has been away for too long. Each player's client
   * has to read the ticket or wait for its changes, by the ticket API; see `Matchmaker.notePresence`. Default: no
   * presence is required.
   */
  readonly presence?: PresenceDefinition | undefined
  /** All players of a match must accept it before a server is deployed. Default: no acceptance. */
  readonly acceptance?: AcceptanceDefinition | undefined
  /** Replaces players who leave while the server is deployed. Default false: the match is dissolved. */
  readonly replaceLeavers?: boolean | undefined
  /**
   * Puts players on cooldown for the offences in `for`: declining a match, not answering, leaving before its server
   * runs, or leaving a running match. Default with `acceptance`: for declining and not answering, with the defaults of
   * `CooldownDefinition`; `{ for: [] }` turns it off. Default without `acceptance`: none.
   */
  readonly cooldown?: CooldownDefinition | undefined
  /** When matches are made. `tick` (default): in rounds, every `tickMs`. `arrival`: also whenever a ticket arrives. */
  readonly mode?: 'tick' | 'arrival' | undefined
  /** The server of each match. Required unless the queue names a `pool`. */
  readonly deploy?: DeployDefinition | undefined
  /** Name of the pool whose servers host the matches of the queue: see `pools`. The pool's `deploy` applies. */
  readonly pool?: string | undefined
}

export interface AcceptanceDefinition {
  /** Milliseconds after MATCH_FOUND. A player who has not accepted by then has declined. */
  readonly withinMs: number
  /**
   * True replaces only the players who declined. Default false: the match dissolves, and players who accepted search
   * again.
   */
  readonly replace?: boolean | undefined
}

export interface PatienceDefinition {
  /**
   * Maximum cost of a match just before `untilMs`, above 0. Before that time, the maximum is proportionally lower. The
   * cost of a match is the mean over its pairs of tickets. The cost of a pair is the sum of its distance and
   * differences, each divided by its strictest limit and multiplied by its weight in `prefer`.
   */
  readonly cost: number
  /**
   * Wait in milliseconds of the oldest ticket after which a match may have any cost. Less than `expireAfterMs`. Muster
   * searches for matches that are hard to find after twice `untilMs`, or midway between `untilMs` and `expireAfterMs`
   * if that is sooner.
   */
  readonly untilMs: number
}

/**
 * Returns the wait in milliseconds after which matches that are hard to find are searched for. It is well before
 * tickets expire, so that no ticket expires because of patience.
 */
export const thoroughMsOf = ({ untilMs }: PatienceDefinition, expireAfterMs: number): number =>
  Math.min(2 * untilMs, (untilMs + expireAfterMs) / 2)

export interface PresenceDefinition {
  /**
   * Milliseconds for which a client may be away while its ticket searches, at least 10,000. The time starts at the
   * ticket's creation, and starts anew whenever the client is present.
   */
  readonly withinMs: number
}

type Filled<T> = { readonly [Key in keyof T]-?: Exclude<T[Key], undefined> }

/** The optional fields of a queue. */
type Optional = Pick<
  QueueDefinition,
  'lastResortMs' | 'targetWaitMs' | 'prefer' | 'patience' | 'playerMayState' | 'presence' | 'pool'
>

/** The fields of a queue whose form differs from the definition. */
type Reformed = 'matchSize' | 'teams' | 'rules' | 'acceptance' | 'cooldown' | 'deploy'

/** A validated queue with all defaults. */
export interface Queue extends Filled<Omit<QueueDefinition, keyof Optional | Reformed>>, Optional {
  readonly teams: readonly TeamDefinition[]
  readonly rules: readonly Rule[]
  readonly acceptance?: Acceptance | undefined
  readonly cooldown?: CooldownTerms | undefined
  readonly deploy: Deploy
}

type Acceptance = Filled<AcceptanceDefinition>

/**
 * Minimum of `withinMs`. A shorter time would not be enough for a reconnecting client, and for processes that exchange
 * presence.
 */
const SHORTEST_PRESENCE_MS = 10_000

/** Minimum of `targetWaitMs`: limits are adapted at most once a second. */
const SHORTEST_TARGET_MS = 1000

/** Maximum weight: with more, the other weights would not matter. */
const MOST_WEIGHT = 100

const fields = {
  name: ShownName,
  matchSize: z.int().min(1).max(500).optional(),
  teams: z.array(teamSchema).min(1).optional(),
  rules: z.array(ruleSchema).max(32).default([]),
  fillForMs: waitMs.default(5000),
  lastResortMs: waitMs.optional(),
  targetWaitMs: waitMs.min(SHORTEST_TARGET_MS).optional(),
  prefer: z.record(z.string().min(1).max(128), z.number().min(0).max(MOST_WEIGHT)).optional(),
  patience: z.strictObject({ cost: z.number().positive(), untilMs: waitMs.positive() }).optional(),
  expireAfterMs: waitMs.positive().default(300_000),
  maxAttempts: z.int().min(1).default(3),
  playersMayWaitTwice: z.boolean().default(false),
  playersMayWaitWhilePlaying: z.boolean().default(false),
  playerMayState: z.array(z.string().min(1).max(128)).max(64).optional(),
  backfill: z.enum(['first', 'last']).default('first'),
  presence: z.strictObject({ withinMs: waitMs.min(SHORTEST_PRESENCE_MS) }).optional(),
  acceptance: z.strictObject({ withinMs: waitMs.positive(), replace: z.boolean().default(false) }).optional(),
  replaceLeavers: z.boolean().default(false),
  cooldown: cooldownSchema.optional(),
  mode: z.enum(['tick', 'arrival']).default('tick'),
  deploy: deploySchema.optional(),
  pool: z.string().min(1).max(64).optional(),
}

/** The schema of a queue's definition, which fills in defaults. */
const queueSchema: z.ZodType<Queue> = z
  .strictObject(fields)
  .superRefine(({ matchSize, teams, deploy, pool }, context) => {
    if ((matchSize === undefined) === (teams === undefined)) {
      const message =
        teams === undefined ? 'is required unless matchSize is given' : 'cannot be given together with matchSize'
      context.addIssue({ code: 'custom', path: ['teams'], message })
    }
    if (deploy === undefined) {
      const message =
        pool === undefined
          ? 'must be given unless pool is given'
          : 'comes from the pool: pass the definition and its pool to createMatchmaker'
      context.addIssue({ code: 'custom', path: ['deploy'], message })
    }
  })
  .meta({
    oneOf: [{ required: ['matchSize'] }, { required: ['teams'] }],
    anyOf: [{ required: ['deploy'] }, { required: ['pool'] }],
  })
  .transform(({ matchSize = 0, teams = [{ name: 'team', count: 1, size: matchSize }], ...given }, context): Queue => {
    const { deploy, ...queue } = given
    if (deploy === undefined) return z.NEVER
    const rules = withDistinctNames(queue.rules)
    for (const { path, message } of problemsOfQueue({ ...queue, teams, rules }))
      context.addIssue({ code: 'custom', path: [...path], message })
    const { acceptance, cooldown = acceptance && cooldownOfAcceptance } = queue
    return inOneShape({ ...queue, deploy, cooldown, teams, rules })
  })

/**
 * Gives all queues the same fields in the same order: every ticket reads them, and V8 reads objects of one shape
 * faster.
 */
const inOneShape = (queue: Queue): Queue => ({ ...NO_FIELDS, ...queue })
const NO_FIELDS = Object.fromEntries(
  Object.keys(fields).flatMap((name) => (name === 'matchSize' ? [] : [[name, undefined]])),
)

/**
 * Validates the definition of a queue and fills in its defaults. The result may be passed to `defineQueue` again. A
 * queue that names a pool needs it: `createMatchmaker` validates both, and so does `checkQueue` with the pools.
 * @throws {InvalidQueue} naming the queue, the path and the value, e.g. `queue "duel": matchSize: …, got 0`.
 */
export function defineQueue(definition: QueueDefinition): Queue {
  const name: unknown = (definition as Partial<QueueDefinition> | null)?.name
  const which = typeof name === 'string' ? `queue ${JSON.stringify(name.slice(0, 64))}: ` : 'queue: '
  return read(queueSchema, definition, (field, message) => new InvalidQueue(which + message, { field }))
}

/** A queue, or all faults of its definition. */
export type CheckedQueue =
  | { readonly queue: Queue; readonly faults: readonly [] }
  | { readonly queue?: undefined; readonly faults: readonly [Fault, ...Fault[]] }

/**
 * Validates the definition of a queue like `defineQueue`, and returns all faults: for files, editors and forms.
 * @param pools the pools that the queue may name instead of `deploy`. Without them, a queue with a pool needs both.
 */
export function checkQueue(definition: unknown, pools?: readonly PoolOfQueue[]): CheckedQueue {
  const pooled = pools === undefined ? { definition } : withPool(definition, pools)
  if (pooled.fault === undefined) return checkWhole(pooled.definition)
  const { field, message } = pooled.fault
  // Reports the other faults too, as if `deploy` were valid.
  const { pool: _, ...others } = definition as QueueDefinition
  const { faults } = checkWhole({ ...others, deploy: { application: 'any', version: 'any' } })
  return { faults: [{ field, path: [field], message, wrong: message }, ...faults] }
}

function checkWhole(definition: unknown): CheckedQueue {
  const { success, data, faults } = validateAll(queueSchema, definition)
  return success ? { queue: data, faults: [] } : { faults: faults as [Fault, ...Fault[]] }
}

/**
 * Validates a queue like `defineQueue`, from a JSON document.
 * @throws {InvalidQueue} also if the text is not JSON, or has a `custom` rule, which needs a function.
 */
export function queueFromJson(text: string): Queue {
  const definition = readJson(text, (fault) => new InvalidQueue(`queue: ${fault}`, { field: '' }))
  return defineQueue(definition as QueueDefinition)
}

/**
 * Returns the JSON Schema (draft 2020-12) of a queue's definition, for editors: names, types and bounds. It cannot
 * express dependencies between fields; `checkQueue` checks those. The rules are under `$defs/rule`, to which inner
 * rules refer, so a document that contains this schema needs the same `$defs`.
 */
export const queueJsonSchema = (): Record<string, unknown> =>
  z.toJSONSchema(queueSchema, { io: 'input', unrepresentable: 'any' })
