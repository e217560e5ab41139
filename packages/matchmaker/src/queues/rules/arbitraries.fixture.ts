import fc from 'fast-check'
import type { QueueDefinition } from '../queue.js'
import { allLimitsOf, innerRulesOf, limitFieldsOf, type RuleDefinition } from './definition.js'
import type { TeamDefinition } from '../rule-parts/teams.js'
import { loosest, type RelaxingLimit, strictest } from '../rule-parts/relaxing.js'
import type { Attributes } from '@muster/hosting/internal'
import type { RulePlayer, RuleTicket } from '../rule-parts/rule-types.js'
import { optional, wait, relaxingBetween, skill, word, maps, role } from './value-arbitraries.fixture.js'
import { ruleOf } from './rule-arbitraries.fixture.js'

/**
 * Random queues with every kind of rule, and random tickets. They have few different values, so that limits are often
 * met exactly. All values are whole numbers, so that no sum depends on its order.
 */

/** The current time of these tests, in epoch milliseconds. */
export const NOW = 1_000_000

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

/** Generates a queue with up to `maxRules` rules of these kinds. */
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

/** Returns the queue with a target wait if any of its limits relaxes, otherwise unchanged. */
export function targeted(queue: QueueDefinition): QueueDefinition {
  const { teams = [], rules = [], lastResortMs } = queue
  const sized = teams.map((team) =>
    typeof team.size === 'number' ? team : { ...team, size: { ...team.size, min: bounded(team.size.min) } },
  )
  const bound = rules.map(withBounds)
  const minima = sized.flatMap(({ size }): RelaxingLimit[] => (typeof size === 'number' ? [] : [size.min]))
  const relaxes = [...bound.flatMap(allLimitsOf), ...minima]
  if (!relaxes.some((limit) => strictest(limit) !== loosest(limit))) return queue
  const later = lastResortMs === undefined ? undefined : 5001 + (lastResortMs % 1000)
  return { ...queue, teams: sized, rules: bound, lastResortMs: later, targetWaitMs: 1000 }
}

const bounded = (limit: RelaxingLimit): RelaxingLimit =>
  typeof limit === 'number' ? limit : { strictest: strictest(limit), loosest: loosest(limit) }

function withBounds(rule: RuleDefinition): RuleDefinition {
  const own = Object.fromEntries(limitFieldsOf(rule).map(([field, limit]) => [field, bounded(limit)]))
  const inner = rule.kind === 'any' || rule.kind === 'all' ? { rules: rule.rules.map(withBounds) } : {}
  const { optionalAfterMs: _, ...timeless } = rule
  return { ...timeless, ...own, ...inner } as RuleDefinition
}

/** Gives rules distinct names, and keeps only one distance rule. */
const named = (rules: readonly RuleDefinition[]): RuleDefinition[] =>
  rules
    .filter((rule, index) => rule.kind !== 'distance' || rules.findIndex(({ kind }) => kind === 'distance') === index)
    .map((rule, index) => ({ ...rule, name: `rule ${index}` }))

/** True if each team is large enough for its roles, and there are two teams if a winner is predicted. */
const feasible =
  (teams: readonly TeamDefinition[]) =>
  (rule: RuleDefinition): boolean => {
    if (rule.kind === 'balance' && rule.measure === 'predictedWin')
      return teams.reduce((sum, { count = 1 }) => sum + count, 0) >= 2
    if (rule.kind !== 'roles') return innerRulesOf(rule).every(feasible(teams))
    const least = Object.values(rule.roles).map((count) => (typeof count === 'number' ? count : count.min))
    const players = least.reduce((sum, count) => sum + count, 0)
    return teams.every(({ size }) => players <= (typeof size === 'number' ? size : size.max))
  }

/**
 * Locations on a grid, within some hundreds of kilometres around a point on the date line. Between arbitrary locations,
 * rounding would decide whether a distance is just within the limit.
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

/** Most players have most attributes, so that rules have values to compare. */
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

/** Up to `maxLength` tickets of one to three players, with the ids `t0`, `t1` … and players `t0.0`, `t0.1` … */
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
