import { ENROLLED } from '@muster/hosting/internal'
import { type Queue, thoroughMsOf } from './queue.js'
import {
  counted,
  digits,
  duration,
  listed,
  sentence,
  type QueueLevels,
  startsOf,
  tableOf,
  isBounds,
  type RelaxingLimit,
  mayBeSmaller,
  teamClauses,
  teamShapes,
} from './rule-parts/index.js'
import {
  innerRulesOf,
  levelsOf,
  limitFieldsOf,
  ruleNameOf,
  type Rule,
  type RuleDefinition,
  ruleClause,
} from './rules/index.js'

/** The description of a queue. */
export interface QueueDescription {
  /** Plain English, one statement a sentence: teams, rules in their order, waiting, and the server of a match. */
  readonly sentences: readonly string[]
  /** The limits over waiting time for a ticket with `headStartMs`. */
  readonly curves: readonly LimitCurve[]
}

/**
 * Describes a queue. Values of variables and functions are left out.
 * @param queue as `defineQueue` returns it.
 * @param headStartMs the tickets' head start in a queue with `targetWaitMs`, from `Matchmaker.inspect`. Default 0.
 */
export function describeQueue(queue: Queue, headStartMs = 0): QueueDescription {
  const clauses = [
    ...teamClauses(queue.teams),
    ...queue.rules.map(ruleClause),
    ...lifetimeClauses(queue),
    ...serverClauses(queue),
  ]
  return { sentences: clauses.map(sentence), curves: curvesOf(queue, headStartMs) }
}

/** Returns the clauses about how long tickets and matches wait, and what ends them. */
const lifetimeClauses = (queue: Queue): string[] => [
  ...targetClauses(queue),
  ...fillClauses(queue),
  ...lastResortClauses(queue),
  ...preferClauses(queue),
  ...patienceClauses(queue),
  ...(queue.mode === 'arrival' ? ['matches are made whenever a ticket arrives'] : []),
  `a ticket that finds no match within ${duration(queue.expireAfterMs)} is cancelled`,
  ...presenceClauses(queue),
  ...playerClauses(queue),
  ...acceptanceClauses(queue),
  ...cooldownClauses(queue),
  ...(queue.replaceLeavers ? ['players who leave while the server starts are replaced'] : []),
  queue.backfill === 'first'
    ? 'free places in running matches are filled before new matches are made'
    : 'new matches are made before free places in running matches are filled',
]

const targetClauses = ({ targetWaitMs }: Queue) =>
  targetWaitMs === undefined
    ? []
    : [
        'limits follow how many suitable players come, region by region, so that nine of ten tickets find a match ' +
          `within ${duration(targetWaitMs)}: they begin between their strictest and their loosest, and relax ` +
          'while a ticket waits',
      ]

const fillClauses = ({ teams, fillForMs }: Queue) =>
  teams.some(mayBeSmaller) && fillForMs > 0
    ? [`smaller teams are enough once the oldest ticket has waited ${duration(fillForMs)} for full ones`]
    : []

function lastResortClauses({ lastResortMs, rules }: Queue): string[] {
  if (lastResortMs === undefined) return []
  const hard = rules.filter((rule) => rule.hard).map(({ name }) => name)
  const [first] = hard
  const still =
    hard.length === 1
      ? `only ${first} still counts, at its loosest`
      : `only ${listed(hard)} still count, at their loosest`
  const counting = first === undefined ? 'no rule counts any more' : still
  return [`after ${duration(lastResortMs)} a ticket takes the best match there is: ${counting}`]
}

const preferClauses = ({ prefer = {} }: Queue) => {
  const weights = Object.entries(prefer).map(([name, weight]) => `${name} with weight ${digits(weight)}`)
  return weights.length === 0 ? [] : [`members of a match are chosen by ${listed(weights)}`]
}

const patienceClauses = ({ patience, expireAfterMs }: Queue) =>
  patience === undefined
    ? []
    : [
        `until its oldest ticket has waited ${duration(patience.untilMs)}, a match is held back for a cheaper one: ` +
          `it may cost ${digits(patience.cost)} in the end, and proportionally less before; ` +
          `matches that are hard to find are looked for after ${duration(thoroughMsOf(patience, expireAfterMs))}`,
      ]

const presenceClauses = ({ presence }: Queue) =>
  presence === undefined
    ? []
    : [`a ticket is cancelled when a player's client is away for ${duration(presence.withinMs)}`]

const statedWords = (name: string) => (name === 'avoid' ? 'avoid list' : name)

function playerClauses({ playersMayWaitTwice, playersMayWaitWhilePlaying, playerMayState }: Queue): string[] {
  const clauses: string[] = []
  if (playersMayWaitTwice) clauses.push('a player may wait in several tickets at once')
  if (playersMayWaitWhilePlaying) clauses.push('a player may wait while playing')
  if (playerMayState === undefined) return clauses
  const own =
    playerMayState.length === 0 ? 'nothing about themselves' : `their own ${listed(playerMayState.map(statedWords))}`
  return [...clauses, `players may state ${own}; all else comes from the token, the profile or a backend`]
}

function acceptanceClauses({ acceptance }: Queue): string[] {
  if (acceptance === undefined) return []
  const otherwise = acceptance.replace
    ? 'those who do not are replaced'
    : 'otherwise the match is dissolved, and those who did search again'
  return [`all players must accept a match within ${duration(acceptance.withinMs)}; ${otherwise}`]
}

const OFFENCES = {
  declined: 'decline a match',
  'not-accepted': 'do not accept it in time',
  left: 'leave a match before its server runs',
  'left-running': 'leave a running match with others in it',
}

function cooldownClauses({ cooldown }: Queue): string[] {
  if (cooldown === undefined || cooldown.for.length === 0) return []
  const { name, firstMs, factor, maxMs, forgiveAfterMs } = cooldown
  const who = listed(
    cooldown.for.map((offence) => OFFENCES[offence]),
    'or',
  )
  const longer = factor === 2 ? 'twice' : `${digits(factor)} times`
  const again = factor === 1 ? '' : `, ${longer} as long each further time, ${duration(maxMs)} at most`
  const shared = name === undefined ? '' : `; this counts in all queues of the cooldown ${name}`
  return [
    `players who ${who} may not wait again for ${duration(firstMs)}${again}; one time is forgiven every ` +
      `${duration(forgiveAfterMs)} after that${shared}`,
  ]
}

/** Returns the clauses about the server of a match. Variables are left out, because they may hold secrets. */
function serverClauses({ deploy, pool, maxAttempts }: Queue): string[] {
  const { application, version, readyTimeoutMs, maxDurationMs, joinWithinMs, warmUpMs, probe } = deploy
  const places = deploy.requireCachedLocations ? ', where its image is cached if there is room' : ''
  const ready = `ready within ${duration(readyTimeoutMs)}`
  const warm = warmUpMs > 0 ? `, has ${duration(warmUpMs)} to warm up` : ''
  const then = `${warm}${probeWords(probe)}`
  const clauseOfPool =
    application === pool && version === ENROLLED
      ? `a match takes a server of pool ${pool}; all servers of this pool enrol by themselves`
      : `a match takes a warm server of pool ${pool} (${application}, version ${version}); if one is created for it, ` +
        `that must be ${ready}${places}${then}`
  return [
    pool === undefined
      ? `every match gets a server of ${application}, version ${version}${places}; it must be ${ready}${then}`
      : clauseOfPool,
    `a match lasts ${duration(maxDurationMs)} at most`,
    ...(joinWithinMs === undefined ? [] : [`a match to which nobody comes within ${duration(joinWithinMs)} ends`]),
    `a ticket is cancelled after ${counted(maxAttempts, 'failed server')}`,
  ]
}

function probeWords(probe: Queue['deploy']['probe']): string {
  if (probe === undefined) return ''
  const within = `within ${duration(probe.withinMs)}`
  return probe.kind === 'registration'
    ? `, and must register itself ${within}`
    : `, and must answer on its ${probe.kind.toUpperCase()} port ${probe.port} ${within}`
}

/** How a limit changes with the waiting time that counts for its rule (`by`). */
export interface LimitCurve {
  /** Name of the rule; for a nested rule, both names. */
  readonly rule: string
  /** `km`, `ms`, `players`, `entries`; empty for plain numbers. */
  readonly unit: string
  /** The limit holds from `after` on. A relaxation defined as a line becomes these steps. */
  readonly shape: 'steps'
  /**
   * True if the limit follows the arrival of players (`targetWaitMs`). Then `after` is for tickets with the requested
   * head start. Other tickets reach these limits sooner or later.
   */
  readonly adapts?: true | undefined
  /** Points in order of time. The first is at 0. Each point has another limit than the point before. */
  readonly points: readonly LimitPoint[]
}

export interface LimitPoint {
  /** Milliseconds of waiting from which the limit counts. */
  readonly after: number
  /** The limit; null if the rule no longer counts. */
  readonly limit: number | null
}

interface NamedLimit {
  readonly name: string
  readonly unit: string
  readonly limit: RelaxingLimit
}

/**
 * Returns the curves of all limits of a queue's rules and of its smallest team sizes, as the compiled queue applies
 * them.
 * @param headStartMs the tickets' head start in a queue with `targetWaitMs`.
 */
export function curvesOf(queue: Queue, headStartMs = 0): LimitCurve[] {
  const levels = levelsOf(queue)
  const curves = [...ofTeams(queue, levels), ...queue.rules.flatMap((rule) => ofRule(rule, levels))]
  const starts = queue.targetWaitMs === undefined ? levels.at : startsOf(levels, headStartMs)
  return curves.map(({ rule, unit, limits, limit }) => ({
    rule,
    unit,
    shape: 'steps',
    ...(isBounds(limit) && { adapts: true }),
    points: pointsOf(starts, limits),
  }))
}

interface Tabled {
  readonly rule: string
  readonly unit: string
  readonly limit: RelaxingLimit
  /** The limit at each level. */
  readonly limits: readonly number[]
}

const ofRule = (rule: Rule, levels: QueueLevels): Tabled[] =>
  limitsIn(rule, rule.name).map(({ name, unit, limit }) => ({
    rule: name,
    unit,
    limit,
    limits: [...tableOf(levels, limit, Number.NaN, rule)],
  }))

/** Returns the curves of teams whose minimum size falls over time. The minimum counts once `fillForMs` is over. */
function ofTeams({ teams }: Queue, levels: QueueLevels): Tabled[] {
  const shapes = teamShapes(teams, levels)
  return teams.flatMap(({ name, size }): Tabled[] => {
    const shape = shapes.find(({ kind }) => kind === name)
    if (typeof size === 'number' || shape === undefined) return []
    return [{ rule: `smallest ${name}`, unit: 'players', limit: size.min, limits: [...shape.min] }]
  })
}

/**
 * Returns the points of a limit's curve.
 * @param starts the waits at which levels begin. If several begin at the same wait, the last one counts.
 */
function pointsOf(starts: Float64Array, limits: readonly number[]): LimitPoint[] {
  const points: LimitPoint[] = []
  for (const [level, limit] of limits.entries()) {
    const point = { after: starts[level] ?? 0, limit: Number.isFinite(limit) ? limit : null }
    if (starts[level + 1] !== point.after && points.at(-1)?.limit !== point.limit) points.push(point)
  }
  return points
}

/** Returns the limits of a rule and of its nested rules. */
function limitsIn(rule: RuleDefinition, name: string): NamedLimit[] {
  const inner = innerRulesOf(rule).flatMap((one) => limitsIn(one, `${name}: ${ruleNameOf(one)}`))
  return [...ownLimits(rule, name), ...inner]
}

function ownLimits(given: RuleDefinition, name: string): NamedLimit[] {
  const rule = given.kind === 'overlap' ? { ...given, atLeast: given.atLeast ?? 1 } : given
  const unit = rule.kind === 'compare' && rule.aggregate === 'count' ? 'players' : (UNITS[rule.kind] ?? '')
  return limitFieldsOf(rule).map(([field, limit]) => ({
    name: field === 'maxDifferenceMs' ? `${name} difference` : name,
    unit,
    limit,
  }))
}

const UNITS: Partial<Readonly<Record<RuleDefinition['kind'], string>>> = {
  distance: 'km',
  latency: 'ms',
  overlap: 'entries',
}
