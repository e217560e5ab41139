import fc from 'fast-check'
import { type Missing, PARTY_SIZE, type WaitOf } from '../rule-parts/rule-base.js'
import { allLimitsOf, type RuleDefinition } from './definition.js'
import type { MatchProposal } from './custom.js'
import { inTwentieths, optional, wait, relaxingBetween, skill, word, maps, role } from './value-arbitraries.fixture.js'

const closeness = relaxingBetween(0, 6)
const skillOrRank = fc.constantFrom('skill', 'rank', PARTY_SIZE)
const scope = fc.constantFrom('match' as const, 'team' as const, undefined)

const missing = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<Missing<T> | undefined> =>
  fc.oneof(fc.constantFrom('any' as const, 'refuse' as const, undefined), fc.record({ value }))

/** The common fields of all rules except their names: see `named`. */
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

/** The players that a rule compares; in most cases all players. */
const someOf = (teams: readonly string[]) => ({
  scope: fc.constantFrom(undefined, undefined, undefined, 'match' as const, 'team' as const),
  team: fc.constantFrom(undefined, undefined, undefined, undefined, ...teams),
})

/** Generates a rule of a kind, for teams of these names. */
export function ruleOf(kind: RuleDefinition['kind'], teams: readonly string[]): fc.Arbitrary<RuleDefinition> {
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
        ...someOf(teams),
      })
    case 'equal':
      return fc.record({
        ...of(kind),
        attribute: fc.constantFrom('mode', 'skill', 'beginner'),
        scope,
        missing: missing(word),
      })
    case 'different':
      return fc.record({
        ...of(kind),
        attribute: fc.constantFrom('skill', 'rank'),
        scope: fc.constantFrom('match' as const, 'team' as const, 'teams' as const, undefined),
        missing: missing(skill),
      })
    case 'accepts':
      return fc
        .tuple(acceptsRule, fc.record(someOf(teams)))
        .map(([rule, some]) => ({ ...rule, ...some }) as RuleDefinition)
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
        ...someOf(teams),
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
      return fc.record({ ...of(kind), ...someOf(teams) })
    case 'balance': {
      const how = { aggregate: optional(aggregate), max: closeness, missing: missing(skill) }
      const byDifference = fc.record({ ...of(kind), attribute: skillOrRank, ...how })
      return fc.oneof({ weight: 2, arbitrary: byDifference }, { weight: 1, arbitrary: balanceByPredictedWin })
    }
    case 'custom':
      return fc.record({
        ...of(kind),
        name: fc.constant('custom'),
        test: fc.constantFrom(noScoutsWhoHurry, evenPlayers),
      })
  }
}

const balanceByPredictedWin: fc.Arbitrary<RuleDefinition> = fc.record({
  ...of('balance'),
  measure: fc.constant('predictedWin' as const),
  mean: fc.constant('skill'),
  uncertainty: fc.constant('rank'),
  beta: fc.constantFrom(undefined, 1, 2.5),
  max: relaxingBetween(10, 20).map(inTwentieths),
  missing: fc.oneof(
    fc.constantFrom('refuse' as const, undefined),
    fc.record({ value: fc.record({ mean: skill, uncertainty: fc.integer({ min: 1, max: 4 }) }) }),
  ),
})

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

/** Generates a rule that can be nested, so it has none of the common fields. */
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
