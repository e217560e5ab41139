import {
  MOST_LEVELS,
  isBounds,
  loosest,
  type RelaxingLimit,
  relaxationStepsOf,
  strictest,
  PARTY_SIZE,
  LARGEST_MATCH,
  namesOf,
  type TeamDefinition,
} from './rule-parts/index.js'
import {
  type AcceptsRule,
  innerRulesOf,
  levelsOf,
  limitFieldsOf,
  ratingAttributesOf,
  requiredType,
  type Rule,
  type RuleDefinition,
  type RolesRule,
} from './rules/index.js'

/** Maximum number of teams in a prediction of the winner (our choice). */
const MOST_PREDICTED = 32

interface QueueFault {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

interface QueueParts {
  readonly teams: readonly TeamDefinition[]
  readonly rules: readonly Rule[]
  readonly lastResortMs?: number | undefined
  readonly targetWaitMs?: number | undefined
  readonly prefer?: Readonly<Record<string, number>> | undefined
  readonly patience?: { readonly untilMs: number } | undefined
  readonly expireAfterMs: number
}

const quoted = (name: string) => JSON.stringify(name)
const largest = ({ size }: TeamDefinition) => (typeof size === 'number' ? size : size.max)
const smallest = ({ size }: TeamDefinition) => (typeof size === 'number' ? size : Math.ceil(loosest(size.min)))

/** Returns the number of players in the largest match of a queue. */
export const largestMatch = ({ teams }: Pick<QueueParts, 'teams'>): number =>
  teams.reduce((sum, team) => sum + (team.count ?? 1) * largest(team), 0)

/** Finds contradictions between the parts of a queue, each of which is valid alone. */
export function problemsOfQueue(parts: QueueParts): QueueFault[] {
  const { teams, rules, lastResortMs, targetWaitMs, expireAfterMs } = parts
  const problems = [...problemsOfTeams(teams), ...problemsOfNames(rules), ...problemsOfTarget(parts)]
  for (const [index, rule] of rules.entries()) problems.push(...problemsOfRule(rule, ['rules', index], teams))
  problems.push(...problemsOfTypes(rules))
  if (lastResortMs !== undefined && lastResortMs >= expireAfterMs) {
    problems.push({ path: ['lastResortMs'], message: `must be less than expireAfterMs, ${expireAfterMs}` })
  }
  problems.push(...problemsOfPrefer(parts))
  if (parts.patience !== undefined && parts.patience.untilMs >= expireAfterMs) {
    problems.push({ path: ['patience', 'untilMs'], message: `must be less than expireAfterMs, ${expireAfterMs}` })
  }
  if (levelsOf({ teams, rules, lastResortMs, targetWaitMs }).at.length > MOST_LEVELS) {
    problems.push({ path: ['rules'], message: `must not relax at more than ${MOST_LEVELS - 1} different times` })
  }
  return problems
}

/** Finds weights without an effect, which are mistakes. */
function problemsOfPrefer({ prefer = {}, rules }: QueueParts): QueueFault[] {
  const attributes = rules.flatMap((rule) =>
    rule.kind === 'difference' && rule.scope !== 'team' && rule.team === undefined ? [rule.attribute] : [],
  )
  return Object.keys(prefer).flatMap((name): QueueFault[] => {
    const isReserved = name === 'distance' || name === 'waiting' || name === 'parties'
    if (isReserved && attributes.includes(name)) {
      return [{ path: ['prefer', name], message: 'is also the attribute of a difference rule: rename that attribute' }]
    }
    if (name === 'waiting' || name === 'parties' || attributes.includes(name)) return []
    if (!isReserved) {
      const message = 'is neither distance, waiting or parties, nor the attribute of a difference rule'
      return [{ path: ['prefer', name], message }]
    }
    if (rules.some(({ kind }) => kind === 'distance')) return []
    return [{ path: ['prefer', name], message: 'needs a distance rule' }]
  })
}

function problemsOfTeams(teams: readonly TeamDefinition[]): QueueFault[] {
  const problems: QueueFault[] = []
  const taken = new Set<string>()
  for (const [index, team] of teams.entries()) {
    const twice = [team.name, ...namesOf(team)].find((name) => taken.has(name))
    if (twice !== undefined) {
      problems.push({ path: ['teams', index, 'name'], message: `there are two teams called ${quoted(twice)}` })
    }
    for (const name of [team.name, ...namesOf(team)]) taken.add(name)
    if (typeof team.size !== 'number' && strictest(team.size.min) > team.size.max) {
      problems.push({ path: ['teams', index, 'size', 'min'], message: `must not be more than max, ${team.size.max}` })
    }
  }
  const sum = (players: (team: TeamDefinition) => number) =>
    teams.reduce((total, team) => total + players(team) * (team.count ?? 1), 0)
  if (sum(largest) > LARGEST_MATCH)
    problems.push({ path: ['teams'], message: `must take at most ${LARGEST_MATCH} players in all` })
  if (sum(smallest) === 0) problems.push({ path: ['teams'], message: 'must take at least one player in all' })
  return problems
}

function problemsOfNames(rules: readonly Rule[]): QueueFault[] {
  const problems: QueueFault[] = []
  const seen = new Set<string>()
  for (const [index, { name, kind }] of rules.entries()) {
    if (seen.has(name))
      problems.push({ path: ['rules', index, 'name'], message: `is the name of another rule too, ${quoted(name)}` })
    seen.add(name)
    if (kind === 'distance' && rules.findIndex((rule) => rule.kind === kind) !== index) {
      problems.push({ path: ['rules', index], message: 'is a second distance rule: a queue may have only one' })
    }
  }
  return problems
}

/** Finds the faults of a rule that depend on the queue's teams. @param path the path of the rule in the queue. */
function problemsOfRule(
  rule: RuleDefinition,
  path: readonly PropertyKey[],
  teams: readonly TeamDefinition[],
): QueueFault[] {
  const problems: QueueFault[] = []
  for (const key of ['team', 'otherTeam'] as const) {
    const name = key in rule ? (rule as { readonly [Key in typeof key]?: string | undefined })[key] : undefined
    if (name !== undefined && !teams.some((team) => team.name === name)) {
      problems.push({ path: [...path, key], message: 'is not the name of a team' })
    }
  }
  if (rule.kind === 'roles') problems.push(...problemsOfRoles(rule, path, teams))
  if (rule.kind === 'balance' && rule.measure === 'predictedWin') problems.push(...problemsOfPrediction(path, teams))
  for (const [at, inner] of innerRulesOf(rule).entries()) {
    problems.push(...problemsOfRule(inner, [...path, ...(rule.kind === 'not' ? ['rule'] : ['rules', at])], teams))
  }
  return problems
}

/** Finds teams that are too small for their roles: these could never be matched. */
function problemsOfRoles(
  rule: RolesRule,
  path: readonly PropertyKey[],
  teams: readonly TeamDefinition[],
): QueueFault[] {
  const least = Object.values(rule.roles).map((count) => (typeof count === 'number' ? count : count.min))
  const players = least.reduce((sum, count) => sum + count, 0)
  const small = teams.find((team) => (rule.team ?? team.name) === team.name && largest(team) < players)
  if (small === undefined) return []
  const message = `require ${players} players, but team ${quoted(small.name)} has at most ${largest(small)}`
  return [{ path: [...path, 'roles'], message }]
}

/**
 * Finds a queue whose winner cannot be predicted. One team has no winner. With many teams, comparing every two of them
 * for each arrangement would take too long.
 */
function problemsOfPrediction(path: readonly PropertyKey[], teams: readonly TeamDefinition[]): QueueFault[] {
  const count = teams.reduce((sum, team) => sum + (team.count ?? 1), 0)
  if (count >= 2 && count <= MOST_PREDICTED) return []
  const message = `predictedWin is for 2 to ${MOST_PREDICTED} teams, and there are ${count}`
  return [{ path: [...path, 'measure'], message }]
}

type AttributeType = 'number' | 'list' | 'text' | 'boolean'

/** An attribute that a rule reads, and the types that the rule accepts. */
type ReadAttribute = readonly [attribute: string, types: readonly AttributeType[]]

const SCALARS: readonly AttributeType[] = ['number', 'text', 'boolean']

/**
 * Returns the attributes of which a rule of the queue requires a type, with the allowed types. Inner rules refuse no
 * ticket, so a rule of kind `any`, `all` or `not` requires none.
 */
function typesOf(rule: RuleDefinition): readonly ReadAttribute[] {
  switch (rule.kind) {
    case 'balance':
      if (rule.measure === 'predictedWin') return ratingAttributesOf(rule).map((name) => [name, ['number']])
      return [[rule.attribute ?? '', ['number']]]
    case 'difference':
      return [[rule.attribute, ['number']]]
    case 'compare':
      return rule.attribute === undefined ? [] : [[rule.attribute, ['number']]]
    case 'overlap':
      return [[rule.attribute, ['list']]]
    case 'equal':
    case 'different':
      return [[rule.attribute, SCALARS]]
    case 'require':
      return [[rule.attribute, [requiredType(rule)]]]
    case 'accepts': {
      const [is, wants] = acceptedTypes(rule.operator)
      return [
        [rule.attribute, is],
        [rule.own, wants],
      ]
    }
    default:
      return []
  }
}

/** Returns the types of `attribute` and `own` of an `accepts` rule. */
function acceptedTypes(operator: AcceptsRule['operator']): readonly [ReadAttribute[1], ReadAttribute[1]] {
  if (operator === 'in' || operator === 'not in') return [['text'], ['list']]
  if (operator === 'contains' || operator === 'excludes') return [['list'], ['text']]
  return operator === '=' || operator === '!=' ? [SCALARS, SCALARS] : [['number'], ['number']]
}

/** Returns the field of a rule in which an attribute is named. */
function fieldOf(rule: Rule, attribute: string): string {
  const fields = ['attribute', 'own', 'mean', 'uncertainty'] as const
  return fields.find((key) => (rule as Partial<Record<typeof key, string>>)[key] === attribute) ?? 'attribute'
}

/** Finds two rules that need different types of the same attribute: together they would refuse every ticket. */
function problemsOfTypes(rules: readonly Rule[]): QueueFault[] {
  const problems: QueueFault[] = []
  const wanted = new Map<string, { readonly types: readonly AttributeType[]; readonly rule?: string }>()
  wanted.set(PARTY_SIZE, { types: ['number'] })
  for (const [index, rule] of rules.entries()) {
    for (const [attribute, types] of typesOf(rule)) {
      const other = wanted.get(attribute)
      const common = other === undefined ? types : types.filter((type) => other.types.includes(type))
      if (other !== undefined && common.length === 0) {
        const whose = other.rule === undefined ? 'always' : `for rule ${quoted(other.rule)}`
        const message = `is a ${types.join(' or ')} here, and a ${other.types.join(' or ')} ${whose}`
        problems.push({ path: ['rules', index, fieldOf(rule, attribute)], message })
      }
      const isNarrower = other === undefined || (common.length > 0 && common.length < other.types.length)
      if (isNarrower) wanted.set(attribute, { types: common, rule: rule.name })
    }
  }
  return problems
}

const NOTHING_TIMED = ': a queue with targetWaitMs has no timed limits'

type PlacedLimit = readonly [path: readonly PropertyKey[], limit: RelaxingLimit]

/**
 * Checks that limits have bounds if and only if the queue has a target wait. With a target wait, nothing may relax at
 * fixed times.
 */
function problemsOfTarget({ teams, rules, lastResortMs, targetWaitMs, expireAfterMs }: QueueParts): QueueFault[] {
  const limits = [
    ...rules.flatMap((rule, index) => limitsIn(rule, ['rules', index])),
    ...teams.flatMap(({ size }, index): PlacedLimit[] =>
      typeof size === 'number' ? [] : [[['teams', index, 'size', 'min'], size.min]],
    ),
  ]
  if (targetWaitMs === undefined) {
    return limits.flatMap(([path, limit]) =>
      isBounds(limit) ? [{ path, message: 'has bounds, which need targetWaitMs in the queue' }] : [],
    )
  }
  const problems = limits.flatMap(([path, limit]): QueueFault[] =>
    typeof limit === 'number' || isBounds(limit)
      ? []
      : [{ path, message: `must be a number or { strictest, loosest }${NOTHING_TIMED}` }],
  )
  for (const [index, { optionalAfterMs }] of rules.entries()) {
    if (optionalAfterMs !== undefined)
      problems.push({ path: ['rules', index, 'optionalAfterMs'], message: 'is only allowed without targetWaitMs' })
  }
  if (!limits.some(([, limit]) => strictest(limit) !== loosest(limit)))
    problems.push({ path: ['targetWaitMs'], message: 'needs a limit { strictest, loosest } that it can relax' })
  if (targetWaitMs >= expireAfterMs)
    problems.push({ path: ['targetWaitMs'], message: `must be less than expireAfterMs, ${expireAfterMs}` })
  const { spanMs } = relaxationStepsOf(0, targetWaitMs)
  if (lastResortMs !== undefined && lastResortMs <= spanMs) {
    const why = 'when limits are at their loosest'
    problems.push({ path: ['lastResortMs'], message: `must be more than 5 times targetWaitMs, ${spanMs}, ${why}` })
  }
  return problems
}

function limitsIn(rule: RuleDefinition, path: readonly PropertyKey[]): PlacedLimit[] {
  const own = limitFieldsOf(rule).map(([field, limit]): PlacedLimit => [[...path, field], limit])
  const inner = innerRulesOf(rule).flatMap((one, at) =>
    limitsIn(one, [...path, ...(rule.kind === 'not' ? ['rule'] : ['rules', at])]),
  )
  return [...own, ...inner]
}
