import fc from 'fast-check'
import type { QueueDefinition } from '../queue.js'
import { PARTY_SIZE, type Missing, type RuleDefinition, type TeamDefinition, type WaitOf } from './definition.js'
import { allLimitsOf, innerRulesOf } from './levels.js'
import type { MatchProposal } from './proposal.js'
import type { Relaxing } from './relaxing.js'
import type { Attributes } from '../../player.js'
import type { RulePlayer, RuleTicket } from './facts.js'

/**
 * Random queues with every kind of rule, and tickets that these rules may or may not like. Few different values, so
 * that limits are met exactly; and whole numbers, so that no sum depends on its order.
 */

/** When the tickets of a test wait; epoch milliseconds. */
export const NOW = 1_000_000

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })

const wait = fc.integer({ min: 0, max: 20 }).map((hundreds) => hundreds * 100)

/** A limit between two numbers, the first the strictest. Boundaries are multiples of 100. */
export function relaxingBetween(strictest: number, loosest: number): fc.Arbitrary<Relaxing> {
  const sign = Math.sign(loosest - strictest)
  const value = fc.integer({ min: Math.min(strictest, loosest), max: Math.max(strictest, loosest) })
  const values = fc.uniqueArray(value, { minLength: 2, maxLength: 4 })
  const steps = fc.tuple(values, fc.array(wait, { minLength: 4, maxLength: 4 })).map(([values, gaps]) => {
    let afterMs = 0
    return values
      .toSorted((a, b) => sign * (a - b))
      .map((value, index) => {
        afterMs += index === 0 ? 0 : 100 + (gaps[index] ?? 0)
        return { afterMs, value }
      })
  })
  const line = fc
    .record({ startMs: optional(wait), overMs: fc.constantFrom(1600, 3200) })
    .map((when) => ({ from: strictest, to: loosest, ...when }))
  return fc.oneof(value, steps, line)
}

const skill = fc.integer({ min: 0, max: 8 })
const word = fc.constantFrom('a', 'b')
const maps = ['a', 'b', 'c', 'd']
const role = fc.constantFrom('tank', 'healer', 'scout')
const closeness = relaxingBetween(0, 6)
const skillOrRank = fc.constantFrom('skill', 'rank', PARTY_SIZE)
const scope = fc.constantFrom('match' as const, 'team' as const, undefined)

const missing = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<Missing<T> | undefined> =>
  fc.oneof(fc.constantFrom('any' as const, 'refuse' as const, undefined), fc.record({ value }))

/** What all rules have, but for their names: see `named`. */
const base = {
  by: fc.constantFrom<WaitOf | undefined>('each', 'each', undefined, 'youngest', 'oldest', 'average'),
  optionalAfterMs: fc.option(wait, { nil: undefined, freq: 3 }),
  hard: fc.constantFrom(true, false, undefined),
}
const of = <Kind extends RuleDefinition['kind']>(kind: Kind) => ({ kind: fc.constant(kind), ...base })

const comparison = fc.constantFrom('<' as const, '<=' as const, '>' as const, '>=' as const)
const equality = fc.constantFrom('=' as const, '!=' as const)
const standsFor = fc.constantFrom('avg' as const, 'min' as const, 'max' as const, 'each' as const, undefined)
const aggregate = fc.constantFrom('avg' as const, 'min' as const, 'max' as const, 'sum' as const)
const loosening = (operator: string, low: number, high: number) =>
  operator.startsWith('<') ? relaxingBetween(low, high) : relaxingBetween(high, low)

/** Any rule of a kind for teams of these names. */
function ruleOf(kind: RuleDefinition['kind'], teams: readonly string[]): fc.Arbitrary<RuleDefinition> {
  const team = optional(fc.constantFrom(...teams))
  switch (kind) {
    case 'distance': {
      const unknown = fc.constantFrom('network' as const, 'refuse' as const, 'any' as const, undefined)
      return fc.record({ ...of(kind), maxKm: relaxingBetween(100, 3000), missing: unknown })
    }
    case 'latency': {
      const unknown = fc.constantFrom('refuse' as const, 'any' as const, undefined)
      const [maxMs, maxDifferenceMs] = [relaxingBetween(20, 90), relaxingBetween(0, 60)]
      return fc.oneof(
        fc.record({ ...of(kind), maxMs, maxDifferenceMs: optional(maxDifferenceMs), missing: unknown }),
        fc.record({ ...of(kind), maxDifferenceMs, missing: unknown }),
      )
    }
    case 'difference':
      return fc.record({
        ...of(kind),
        attribute: skillOrRank,
        max: closeness,
        party: standsFor,
        missing: missing(skill),
      })
    case 'equal':
      return fc.record({
        ...of(kind),
        attribute: fc.constantFrom('mode', 'skill', 'beginner'),
        scope,
        missing: missing(word),
      })
    case 'different':
      return fc.record({ ...of(kind), attribute: fc.constantFrom('skill', 'rank'), scope, missing: missing(skill) })
    case 'accepts':
      return acceptsRule
    case 'any':
    case 'all':
      return fc.record({ ...of(kind), rules: fc.array(innerRule(teams), { minLength: 2, maxLength: 3 }) })
    case 'not':
      return fc.record({
        ...of(kind),
        rule: innerRule(teams).filter((rule) => allLimitsOf(rule).every((limit) => typeof limit === 'number')),
      })
    case 'overlap': {
      const atLeast = optional(relaxingBetween(3, 0))
      const party = fc.constantFrom('intersection' as const, 'union' as const, undefined)
      return fc.record({
        ...of(kind),
        attribute: fc.constant('maps'),
        atLeast,
        party,
        missing: missing(fc.subarray(maps)),
      })
    }
    case 'require':
      return requireRule
    case 'compare':
      return compareRule(team, teams)
    case 'roles': {
      const count = fc.integer({ min: 0, max: 1 })
      const bounds = fc
        .record({ min: count, more: optional(count) })
        .map(({ min, more }) => ({ min, max: more === undefined ? undefined : min + more }))
      const roles = fc.dictionary(role, fc.oneof(count, bounds), { minKeys: 1, noNullPrototype: true })
      return fc.record({ ...of(kind), roles, team })
    }
    case 'avoid':
      return fc.record(of(kind))
    case 'balance': {
      const how = optional(aggregate)
      return fc.record({ ...of(kind), attribute: skillOrRank, aggregate: how, max: closeness, missing: missing(skill) })
    }
    case 'custom':
      return fc.record({
        ...of(kind),
        name: fc.constant('custom'),
        test: fc.constantFrom(noScoutsWhoHurry, evenPlayers),
      })
  }
}

const acceptsOperators = { numbers: ['<', '<=', '>', '>='], scalars: ['=', '!='] } as const
const acceptsRule: fc.Arbitrary<RuleDefinition> = fc.oneof(
  fc.record({
    ...of('accepts'),
    attribute: skillOrRank,
    operator: fc.constantFrom(...acceptsOperators.numbers, ...acceptsOperators.scalars),
    own: fc.constantFrom('skill', 'rank'),
    missing: missing(skill),
  }),
  fc.record({
    ...of('accepts'),
    attribute: fc.constant('mode'),
    operator: fc.constantFrom('in' as const, 'not in' as const),
    own: fc.constant('maps'),
    missing: missing(word),
  }),
  fc.record({
    ...of('accepts'),
    attribute: fc.constant('maps'),
    operator: fc.constantFrom('contains' as const, 'excludes' as const),
    own: fc.constant('mode'),
    missing: missing(fc.subarray(maps)),
  }),
)

/** Any rule that may stand within another: of what all rules have, it has nothing of its own. */
const innerRule = (teams: readonly string[]): fc.Arbitrary<RuleDefinition> =>
  fc
    .constantFrom(...kinds.filter((kind) => kind !== 'custom' && kind !== 'any' && kind !== 'not'))
    .chain((kind) => (kind === 'all' ? fc.constantFrom('distance' as const, 'equal' as const) : fc.constant(kind)))
    .chain((kind) => ruleOf(kind, teams))
    .map(({ by: _by, optionalAfterMs: _after, hard: _hard, ...rule }) => rule as RuleDefinition)

const ofSkill = { ...of('require'), attribute: fc.constant('skill'), missing: missing(skill) }
const ofMode = { ...of('require'), attribute: fc.constant('mode'), missing: missing(word) }
const ofMaps = { ...of('require'), attribute: fc.constant('maps'), missing: missing(fc.subarray(maps)) }
const requireRule: fc.Arbitrary<RuleDefinition> = fc.oneof(
  comparison.chain((operator) =>
    fc.record({ ...ofSkill, operator: fc.constant(operator), value: loosening(operator, 2, 6), party: standsFor }),
  ),
  fc.record({ ...ofSkill, operator: equality, value: skill }),
  fc.record({ ...ofMode, operator: equality, value: word }),
  fc.record({ ...ofMode, operator: fc.constant('in' as const), value: fc.subarray(['a', 'b', 'c'], { minLength: 1 }) }),
  fc.record({
    ...ofMode,
    operator: fc.constant('not in' as const),
    value: fc.subarray(['a', 'b', 'c'], { minLength: 1 }),
  }),
  fc.record({ ...ofMaps, operator: fc.constantFrom('contains' as const, 'excludes' as const), value: word }),
  fc.record({
    ...of('require'),
    attribute: fc.constant('beginner'),
    missing: missing(fc.boolean()),
    operator: equality,
    value: fc.boolean(),
  }),
)

function compareRule(team: fc.Arbitrary<string | undefined>, teams: readonly string[]): fc.Arbitrary<RuleDefinition> {
  const all = { ...of('compare'), team }
  const values = fc.oneof(
    comparison.chain((operator) => fc.record({ operator: fc.constant(operator), value: loosening(operator, 1, 6) })),
    fc.record({ operator: equality, value: skill }),
    fc.record({ operator: fc.oneof(comparison, equality), otherTeam: fc.constantFrom(...teams) }),
  )
  const counted = fc.record({ ...all, aggregate: fc.constant('count' as const) })
  const summed = fc.record({ ...all, aggregate, attribute: fc.constant('skill'), missing: missing(skill) })
  const what = fc.oneof({ weight: 1, arbitrary: counted }, { weight: 4, arbitrary: summed })
  return fc.tuple(what, values, fc.nat(3)).map(([measured, value, ofAll]) => {
    if (ofAll > 0 || 'otherTeam' in value) return { ...measured, ...value }
    return { ...measured, ...value, team: undefined, scope: 'match' as const }
  })
}

/** Two custom rules. */
const noScoutsWhoHurry = ({ teams }: MatchProposal): boolean =>
  teams.every(({ tickets }) =>
    tickets.every(({ waitedMs, players }) => waitedMs >= 500 || !players.some(({ roles }) => roles.includes('scout'))),
  )
const evenPlayers = ({ teams }: MatchProposal): boolean =>
  teams.flatMap(({ tickets }) => tickets.flatMap(({ players }) => players)).length % 2 === 0

export const kinds: readonly RuleDefinition['kind'][] = [
  'distance',
  'latency',
  'difference',
  'equal',
  'different',
  'overlap',
  'require',
  'accepts',
  'compare',
  'roles',
  'avoid',
  'balance',
  'custom',
  'any',
  'all',
  'not',
]

const size: fc.Arbitrary<TeamDefinition['size']> = fc.oneof(
  fc.integer({ min: 1, max: 3 }),
  fc.integer({ min: 2, max: 4 }).chain((max) => relaxingBetween(max, 1).map((min) => ({ min, max }))),
)
const team = (name: string, most: number) =>
  fc.record({ name: fc.constant(name), count: fc.integer({ min: 1, max: most }), size })
const teams: fc.Arbitrary<TeamDefinition[]> = fc.oneof(
  fc.tuple(team('team', 3)),
  fc.tuple(team('monster', 1), team('hunters', 2)),
)

/** A queue with up to so many rules, of these kinds. */
export function queues(of: readonly RuleDefinition['kind'][], maxRules: number): fc.Arbitrary<QueueDefinition> {
  return teams.chain((teams) => {
    const names = teams.map(({ name }) => name)
    const rule = fc.constantFrom(...of).chain((kind) => ruleOf(kind, names))
    return fc.record({
      name: fc.constant('queue'),
      teams: fc.constant(teams),
      rules: fc.array(rule, { minLength: 1, maxLength: maxRules }).map((rules) => named(rules.filter(feasible(teams)))),
      fillForMs: wait,
      lastResortMs: fc.option(wait, { nil: undefined, freq: 2 }),
      deploy: fc.constant({ application: 'game', version: '1' }),
    })
  })
}

/** Their names differ, and only one is about distance. */
const named = (rules: readonly RuleDefinition[]): RuleDefinition[] =>
  rules
    .filter((rule, index) => rule.kind !== 'distance' || rules.findIndex(({ kind }) => kind === 'distance') === index)
    .map((rule, index) => ({ ...rule, name: `rule ${index}` }))

/** A team that is too small for its roles is no queue. */
const feasible =
  (teams: readonly TeamDefinition[]) =>
  (rule: RuleDefinition): boolean => {
    if (rule.kind !== 'roles') return innerRulesOf(rule).every(feasible(teams))
    const least = Object.values(rule.roles).map((count) => (typeof count === 'number' ? count : count.min))
    const players = least.reduce((sum, count) => sum + count, 0)
    return teams.every(({ size }) => players <= (typeof size === 'number' ? size : size.max))
  }

/**
 * Places within some hundreds of kilometres around a point on the date line, on a grid: between arbitrary places,
 * rounding would decide where a distance is just the limit.
 */
const place = fc.record({
  latitude: fc.nat(27).map((step) => 40 + step * 0.37),
  longitude: fc.integer({ min: -13, max: 13 }).map((step) => (step < 0 ? step * 0.37 + 180 : step * 0.37 - 180)),
})

const attributes: fc.Arbitrary<Attributes> = fc
  .record(
    { skill, rank: skill, mode: word, maps: fc.subarray(maps, { minLength: 1 }), beginner: fc.boolean() },
    { requiredKeys: [] },
  )
  .map((given): Attributes => given)
const allAttributes = fc.record({
  skill,
  rank: skill,
  mode: word,
  maps: fc.subarray(maps, { minLength: 2 }),
  beginner: fc.boolean(),
})
const latencies = fc.dictionary(
  fc.constantFrom('ams', 'nyc', 'sgp'),
  fc.integer({ min: 1, max: 10 }).map((tens) => tens * 10),
  { noNullPrototype: true, minKeys: 1 },
)

/** Most players have most attributes, so that rules have something to look at. */
const player: fc.Arbitrary<Omit<RulePlayer, 'id'>> = fc.record({
  attributes: fc.oneof({ weight: 1, arbitrary: attributes }, { weight: 9, arbitrary: allAttributes }),
  roles: fc.uniqueArray(role, { maxLength: 3 }),
  latencies,
  avoid: fc.array(
    fc.integer({ min: 0, max: 4 }).map((ticket) => `t${ticket}.0`),
    { maxLength: 1 },
  ),
})
const party: fc.Arbitrary<Omit<RulePlayer, 'id'>[]> = fc.oneof(
  { weight: 5, arbitrary: fc.array(player, { minLength: 1, maxLength: 1 }) },
  { weight: 2, arbitrary: fc.array(player, { minLength: 2, maxLength: 3 }) },
  { weight: 1, arbitrary: player.map((one) => [{ ...one, latencies: {} }]) },
)
const priority = fc.oneof(
  { weight: 4, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.integer({ min: -2, max: 2 }) },
)

/** So many tickets at most, of one to three players; their ids are `t0`, `t1` …, their players' `t0.0`, `t0.1` … */
export function tickets(maxLength: number): fc.Arbitrary<RuleTicket[]> {
  const ticket = fc.record({
    waited: fc.oneof(wait, fc.integer({ min: 0, max: 6000 })),
    priority,
    players: party,
    place: fc.option(place, { nil: undefined, freq: 8 }),
    network: optional(fc.constantFrom('192.0.2.0/24', '198.51.100.0/24')),
  })
  return fc.array(ticket, { maxLength, minLength: 1 }).map((drafts) =>
    drafts.map(({ waited, players, ...rest }, index) => ({
      ...rest,
      id: `t${index}`,
      createdAt: NOW - waited,
      players: players.map((one, member) => ({ ...one, id: `t${index}.${member}` })),
    })),
  )
}
