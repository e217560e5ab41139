import {
  type ImportedConfig,
  type Json,
  type Lost,
  ObjectReader,
  relaxing,
  type LimitStep,
  UnfitSource,
} from './source-file.js'

// A configuration of Edgegap's matchmaker (JSON, from its public documentation): profiles with rules by name.
// Expansions overwrite the rules' parameters after seconds of waiting.

/** The initial parameters of one rule, and those that each expansion overwrites. */
interface StagedRule {
  readonly name: string
  readonly type: string
  readonly initial: ObjectReader
  readonly stages: readonly { readonly afterMs: number; readonly change: ObjectReader }[]
}

/** Imports a configuration of Edgegap's matchmaker. @throws {UnfitSource} naming field and value */
export function importEdgegap(source: unknown): ImportedConfig {
  const lost: Lost[] = []
  const file = new ObjectReader(source, '', lost)
  file.any('version')
  const retries = file.number('max_deployment_retry_count')
  const profiles = file.needObject('profiles')
  const kept = { removal: new Set<number>(), idle: new Set<number>() }
  const games: string[] = []
  const queues = profiles.names().map((name) => {
    const profile = profiles.needObject(name)
    const removal = periodOf(profile, 'ticket_removal_period')
    const idle = periodOf(profile, 'group_inactivity_removal_period') ?? periodOf(profile, 'group_expiration_period')
    if (removal !== undefined) kept.removal.add(removal)
    if (idle !== undefined) kept.idle.add(idle)
    const queue = queueOf(name, profile, retries)
    games.push(queue.deploy.application)
    profile.end()
    return queue
  })
  if (queues.length === 0) throw new UnfitSource('profiles: must hold at least one profile')
  const origins = [...file.texts('allowed_cors_origins'), ...file.texts('allowed_cors_origin')]
  const inspect = file.boolean('inspect')
  if (kept.removal.size > 1) file.lose('profiles', 'have several ticket_removal_period: the longest counts for all')
  if (kept.idle.size > 1)
    file.lose('profiles', 'have several periods after which groups are removed: the longest counts for all')
  file.end()
  const sections: Json = {
    ...(origins.length > 0 && { cors: { origins } }),
    ...(inspect === true && { inspect }),
    ...(kept.removal.size > 0 && { matching: { endedTicketTtlMs: Math.max(...kept.removal) } }),
    ...(kept.idle.size > 0 && { limits: { groupIdleMs: Math.max(...kept.idle) } }),
  }
  return { game: games[0] ?? '', queues, sections, lost }
}

const UNITS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 }

/** Parses `5m`, `90s` or `1h30m` to milliseconds. */
function periodOf(from: ObjectReader, name: string): number | undefined {
  const text = from.text(name)
  if (text === undefined) return undefined
  const parts = Array.from(text.matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/g))
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text)
    throw new UnfitSource(`${from.at(name)}: must be a period such as 30s, 5m or 1h; got ${JSON.stringify(text)}`)
  return parts.reduce((sum, [, count = '', unit = '']) => sum + Number(count) * (UNITS[unit] ?? 0), 0)
}

/** The expiry of tickets in milliseconds if a profile states none: Edgegap's default, and Muster's. */
const EXPIRES_MS = 300_000

function queueOf(name: string, profile: ObjectReader, retries: number | undefined) {
  const application = profile.needObject('application')
  const deploy = { application: application.needText('name'), version: application.needText('version') }
  application.end()
  const expireAfterMs = periodOf(profile, 'ticket_expiration_period') ?? EXPIRES_MS
  const { rules, stages } = rulesOf(profile, expireAfterMs)
  const sizes = rules.filter(({ type }) => type === 'player_count')
  const [size] = sizes
  if (size === undefined || sizes.length > 1)
    throw new UnfitSource(
      `${profile.at('rules.initial')}: must have one rule of type player_count, not ${sizes.length}`,
    )
  const translated = rules.filter((rule) => rule !== size).map(ruleOf)
  return {
    name,
    ...teamsOf(size, { stages, expireAfterMs, more: translated.flatMap((one) => one?.more ?? []) }),
    expireAfterMs,
    ...(retries !== undefined && { maxAttempts: retries + 1 }),
    playerMayState: translated.flatMap((one) => one?.states ?? []),
    deploy,
  }
}

/** Returns the rules of a profile by name, and the milliseconds at which expansions begin. */
function rulesOf(profile: ObjectReader, expireAfterMs: number) {
  const rules = profile.needObject('rules')
  const initial = rules.needObject('initial')
  const expansions = rules.object('expansions')
  rules.end()
  const byTime = (expansions?.names() ?? [])
    .map((seconds) => {
      if (!/^\d+(\.\d+)?$/.test(seconds))
        throw new UnfitSource(`${rules.at('expansions')}: keys must be seconds; got ${JSON.stringify(seconds)}`)
      return { afterMs: Number(seconds) * 1000, changes: expansions?.needObject(seconds) as ObjectReader }
    })
    .filter(({ afterMs, changes }) => {
      if (afterMs < expireAfterMs) return true
      changes.lose('', 'begins when tickets have expired, and is left out')
      return false
    })
    .toSorted((one, other) => one.afterMs - other.afterMs)
  const staged = initial.names().map((name): StagedRule => {
    const rule = initial.needObject(name)
    const type = rule.needText('type')
    const first = rule.object('attributes') ?? new ObjectReader({}, rule.at('attributes'), [])
    rule.end()
    const stages = byTime.flatMap(({ afterMs, changes }) => {
      const change = changes.object(name)
      // In some files an expansion repeats the form of a rule, with its values in `attributes`.
      const inner = change?.object('attributes')
      return change === undefined ? [] : { afterMs, change: inner ?? change }
    })
    return { name, type, initial: first, stages }
  })
  for (const { changes } of byTime) changes.end()
  return { rules: staged, stages: byTime.map(({ afterMs }) => afterMs) }
}

/**
 * Returns the values of a parameter: the initial one, then one for each expansion. Empty without an initial value. Of
 * two values with the same time, such as an expansion at 0 and the initial value, the later one counts.
 */
function stepsOf({ initial, stages }: StagedRule, name: string): LimitStep[] {
  const first = initial.number(name)
  const changes = stages.flatMap(({ afterMs, change }) => {
    const value = change.number(name)
    return value === undefined ? [] : { afterMs, value }
  })
  const steps = first === undefined ? [] : [{ afterMs: 0, value: first }, ...changes]
  return steps.filter(({ afterMs }, index) => afterMs !== steps[index + 1]?.afterMs)
}

/** Returns a parameter as a limit of a Muster rule. */
function limitOf(rule: StagedRule, name: string, direction: 'rises' | 'falls') {
  const steps = stepsOf(rule, name)
  return relaxing(steps, direction, (message) => rule.initial.lose(name, message))
}

const endOf = ({ initial, stages }: StagedRule) =>
  [initial, ...stages.map(({ change }) => change)].forEach((one) => one.end())

interface Translated {
  /** Rules that the queue needs in addition. */
  readonly more: readonly Json[]
  /** The attributes that clients must state for the rule. */
  readonly states: readonly string[]
}

function ruleOf(rule: StagedRule): Translated | undefined {
  const { name, type, initial } = rule
  const need = (limit: ReturnType<typeof limitOf>, parameter: string) => limit ?? initial.missing(parameter, 'a number')
  switch (type) {
    case 'latencies': {
      const [maxMs, maxDifferenceMs] = [limitOf(rule, 'max_latency', 'rises'), limitOf(rule, 'difference', 'rises')]
      if (maxMs === undefined && maxDifferenceMs === undefined) initial.missing('max_latency', 'a number')
      if (name !== 'beacons')
        initial.lose('', `clients send their latencies as the attribute ${name}: here that is called beacons`)
      endOf(rule)
      const limits = {
        ...(maxMs !== undefined && { maxMs }),
        ...(maxDifferenceMs !== undefined && { maxDifferenceMs }),
      }
      return { more: [{ kind: 'latency', ...limits }], states: ['latencies'] }
    }
    case 'number_difference': {
      const max = need(limitOf(rule, 'max_difference', 'rises'), 'max_difference')
      endOf(rule)
      return { more: [{ kind: 'difference', attribute: name, max }], states: [name] }
    }
    case 'string_equality':
      endOf(rule)
      return { more: [{ kind: 'equal', attribute: name }], states: [name] }
    case 'intersection': {
      const atLeast = limitOf(rule, 'overlap', 'falls') ?? 1
      endOf(rule)
      return { more: [{ kind: 'overlap', attribute: name, atLeast }], states: [name] }
    }
    default:
      initial.lose('', `the rule ${name} is of the type ${type}, which has no counterpart: it is left out`)
      return undefined
  }
}

/** Milliseconds before the expiry at which a smaller match is allowed, if no expansion states a time. */
const BEFORE_EXPIRY_MS = 5000

type ExpandedLimit = number | readonly LimitStep[]

const valueAt = (limit: ExpandedLimit, ms: number) =>
  typeof limit === 'number' ? limit : (limit.findLast((step) => step.afterMs <= ms)?.value ?? 0)

/** Returns the steps of a limit from the time `ms` on. The first step is the value at `ms`. */
const from = (limit: ExpandedLimit, ms: number): LimitStep[] => [
  { afterMs: ms, value: valueAt(limit, ms) },
  ...(typeof limit === 'number' ? [] : limit.filter(({ afterMs }) => afterMs > ms)),
]

interface AroundTeams {
  readonly stages: readonly number[]
  readonly expireAfterMs: number
  readonly more: readonly Json[]
}

/**
 * Returns the queue's teams, which are all alike, and its rules. If the team size grows, one of the rules limits it.
 */
function teamsOf(rule: StagedRule, { stages, expireAfterMs, more }: AroundTeams) {
  const { initial } = rule
  const count = stepsOf(rule, 'team_count')
  const most = stepsOf(rule, 'max_team_size')
  const teams = count[0]?.value ?? initial.missing('team_count', 'a number')
  const largest = most[0]?.value ?? initial.missing('max_team_size', 'a number')
  for (const { afterMs, value } of count.slice(1)) {
    if (value !== teams)
      initial.lose('team_count', `becomes ${value} at ${afterMs / 1000} s: the number of teams stays ${teams}`)
  }
  const least = limitOf(rule, 'min_team_size', 'falls') ?? initial.missing('min_team_size', 'a number')
  const growing = limitOf(rule, 'max_team_size', 'rises') ?? largest
  const max = valueAt(growing, Infinity)
  endOf(rule)
  const isFixed = typeof least === 'number' && least === max
  const fillForMs =
    stages.find((ms) => valueAt(least, ms) < valueAt(growing, ms)) ?? Math.max(0, expireAfterMs - BEFORE_EXPIRY_MS)
  if (!isFixed)
    initial.lose(
      'min_team_size',
      `smaller matches are made at any time from ${fillForMs / 1000} s on, not only at expansions and at the expiry`,
    )
  // If the team size grows, a team is full at its first size. `fillForMs` would instead wait for the largest size.
  const growingLeast =
    Array.isArray(growing) && relaxing([{ afterMs: 0, value: largest }, ...from(least, fillForMs)], 'falls', () => {})
  const rules = [
    ...more,
    ...(Array.isArray(growing)
      ? [{ kind: 'compare', name: 'largest team', aggregate: 'count', operator: '<=', value: growing }]
      : []),
  ]
  return {
    teams: [{ name: 'team', count: teams, size: isFixed ? max : { min: growingLeast || least, max } }],
    ...(!isFixed && { fillForMs: growingLeast ? 0 : fillForMs }),
    ...(rules.length > 0 && { rules }),
  }
}
