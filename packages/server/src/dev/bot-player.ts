// pure: what a bot says of itself, so that the rules of its queue have something to compare
import { greatCircleKm, type Coordinates } from '@muster/core'
import type { Random } from '@muster/core/clock'
import type { Attributes, Player, Queue, RuleDefinition } from '@muster/matchmaker'

type Rule = Queue['rules'][number]
type AnyRule = RuleDefinition

/** A city in which bots live. */
export interface BotCity extends Coordinates {
  readonly name: string
}

/** A beacon by its name, and where it is. */
export interface BotBeacon extends Coordinates {
  readonly name: string
}

export interface BotWorld {
  readonly cities: readonly BotCity[]
  readonly beacons: readonly BotBeacon[]
  readonly random: Random
}

/** Beacons that a bot measures: the nearest ones. */
const MEASURED = 12
/** Degrees around the city. */
const AROUND = 0.6
const WORDS = ['amber', 'birch', 'coral', 'dune', 'ember', 'fjord']

const pick = <T>(from: readonly T[], random: Random): T => from[Math.floor(random() * from.length)] as T

/** A number around 1,500, as ratings of players are: most within 300 of it. */
const rating = (random: Random) => Math.round(1500 + 250 * (random() + random() + random() + random() - 2))

/** The bots of one party, who live in one city. */
export function botParty(queue: Queue, ids: readonly string[], world: BotWorld): readonly Player[] {
  const { random } = world
  const city = pick(world.cities, random)
  const skill = rating(random)
  return ids.map((id) => {
    const coordinates = {
      latitude: Math.max(-90, Math.min(90, city.latitude + (random() - 0.5) * AROUND)),
      longitude: ((city.longitude + (random() - 0.5) * AROUND + 540) % 360) - 180,
    }
    const roles = rolesOf(queue.rules, random)
    return {
      id,
      coordinates,
      attributes: attributesOf(queue.rules, skill, random),
      ...(roles.length > 0 && { roles }),
      ...(wantsLatencies(queue.rules) && { latencies: latenciesOf(coordinates, world) }),
    }
  })
}

export const wantsLatencies = (rules: readonly Rule[]): boolean => flat(rules).some(({ kind }) => kind === 'latency')

/** The rules, with those within them. */
const flat = (rules: readonly AnyRule[]): readonly AnyRule[] =>
  rules.flatMap((rule) => ('rules' in rule ? flat(rule.rules) : [rule]))

/** One attribute of the kind that each rule compares. */
export function attributesOf(rules: readonly Rule[], skill: number, random: Random): Attributes {
  const attributes: Record<string, Attributes[string]> = {}
  for (const rule of flat(rules)) {
    if (rule.kind === 'balance' && rule.measure === 'predictedWin') Object.assign(attributes, ratedBy(rule, skill))
    const { kind, attribute } = rule as { readonly kind: AnyRule['kind']; readonly attribute?: string }
    if (attribute === undefined || attribute.startsWith('$')) continue
    if (kind === 'difference' || kind === 'balance' || kind === 'compare') {
      attributes[attribute] ??= Math.round(skill + (random() - 0.5) * 100)
    } else if (rule.kind === 'accepts') attributes[attribute] ??= acceptedBy(rule.operator, skill)
    else if (kind === 'overlap') attributes[attribute] ??= WORDS.filter(() => random() < 0.6).concat('amber')
    else if (kind === 'equal' || kind === 'different') attributes[attribute] ??= pick(WORDS.slice(0, 2), random)
    else if (rule.kind === 'require') attributes[attribute] ??= requiredBy(rule.operator, rule.value)
  }
  return withoutRepeats(attributes)
}

/** A rating of that skill on the scale that the rule's `beta` stands for: see `BalanceRule`. */
function ratedBy(rule: AnyRule & { readonly kind: 'balance' }, skill: number): Attributes {
  const { mean, uncertainty, beta = 25 / 6 } = rule
  if (mean === undefined || uncertainty === undefined) return {}
  return { [mean]: (beta * 6 * skill) / 1500, [uncertainty]: beta }
}

/** A value that lets its player in. */
function requiredBy(operator: string, value: unknown): Attributes[string] {
  if (operator === 'in' && Array.isArray(value)) return value[0] as string
  if (operator === 'contains') return [value as string]
  if (operator === 'excludes' || operator === 'not in') return operator === 'excludes' ? [] : 'other'
  if (typeof value === 'string' || typeof value === 'boolean') return operator === '=' ? value : 'other'
  const number = typeof value === 'number' ? value : 1000
  return operator.startsWith('<') ? number - 1 : operator === '=' ? number : number + 1
}

/** A value of the kind that other players' own are compared with. */
function acceptedBy(operator: string, skill: number): Attributes[string] {
  if (operator === 'contains' || operator === 'excludes') return WORDS
  return operator.startsWith('<') || operator.startsWith('>') ? skill : (WORDS[0] as string)
}

const withoutRepeats = (attributes: Attributes): Attributes =>
  Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [name, Array.isArray(value) ? [...new Set(value)] : value]),
  )

/** The roles that the rules ask for. */
export const rolesIn = (rules: readonly Rule[]): readonly string[] => [
  ...new Set(flat(rules).flatMap((rule) => (rule.kind === 'roles' ? Object.keys(rule.roles) : []))),
]

/** One or two of the roles that the queue asks for. */
function rolesOf(rules: readonly Rule[], random: Random): readonly string[] {
  const roles = rolesIn(rules)
  return roles.length === 0 ? [] : [...new Set([pick(roles, random), pick(roles, random)])]
}

/** 10 ms, and 2 ms for every 100 km, more or less. */
export function latenciesOf(
  from: Coordinates,
  { beacons, random }: Pick<BotWorld, 'beacons' | 'random'>,
): Readonly<Record<string, number>> {
  const nearest = beacons
    .map((beacon) => ({ name: beacon.name, km: greatCircleKm(from, beacon) }))
    .toSorted((one, other) => one.km - other.km)
    .slice(0, MEASURED)
  return Object.fromEntries(nearest.map(({ name, km }) => [name, Math.round((10 + km / 50) * (0.9 + random() * 0.3))]))
}
