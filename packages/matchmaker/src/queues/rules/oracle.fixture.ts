import { greatCircleKm } from '@muster/core'
import type { QueueDefinition } from '../queue.js'
import { type Missing, PARTY_SIZE } from '../rule-parts/rule-base.js'
import type { CompareRule } from './compare.js'
import type { RolesRule } from './roles.js'
import type { RuleDefinition } from './definition.js'
import type { RulePlayer, RuleTicket, Scalar } from '../rule-parts/rule-types.js'
import type { RelaxingLimit } from '../rule-parts/relaxing.js'
import {
  hasBounds,
  limitAfter,
  limitOf,
  limitWithin,
  stepsOf,
  type Judged,
  type JudgedTeam,
} from './oracle-limits.fixture.js'
import { predictionHolds } from './oracle-prediction.fixture.js'
import { valueOf, valuesOf, aggregate, compare } from './oracle-values.fixture.js'

/**
 * A judge of matches, written from the definitions of the rules alone: slow and simple. The compiled rules and the
 * kernel are tested against it.
 */

/**
 * Returns the kinds of the rules that the match breaks.
 * @param playing the tickets that were in the match before the others joined.
 */
export function brokenRules(
  queue: QueueDefinition,
  teams: readonly JudgedTeam[],
  now: number,
  playing: readonly RuleTicket[] = [],
  headStartOf?: Judged['headStartOf'],
): string[] {
  // The size of a party is an attribute of each of its players.
  const sized = new Map(
    teams.flatMap(({ tickets }) => tickets.map((ticket) => [ticket, withPartySize(ticket)] as const)),
  )
  const known = (tickets: readonly RuleTicket[]) => tickets.map((ticket) => sized.get(ticket) ?? ticket)
  const all = teams.map(({ kind, tickets }) => ({ kind, tickets: known(tickets) }))
  const tickets = all.flatMap((team) => team.tickets)
  const judged = { queue, teams: all, tickets, playing: known(playing), now, headStartOf }
  return (queue.rules ?? []).filter((rule) => !holds(rule, judged)).map(({ kind }) => kind)
}

const withPartySize = (ticket: RuleTicket): RuleTicket => ({
  ...ticket,
  players: ticket.players.map((player) => ({
    ...player,
    attributes: { ...player.attributes, [PARTY_SIZE]: ticket.players.length },
  })),
})

/** Returns the faults in the numbers of players per team. Backfills may join a running match in any number. */
export function wrongSizes(
  queue: QueueDefinition,
  teams: readonly JudgedTeam[],
  now: number,
  headStartOf?: Judged['headStartOf'],
): string[] {
  const waited = Math.max(...teams.flatMap(({ tickets }) => tickets.map(({ createdAt }) => now - createdAt)))
  const tickets = teams.flatMap((team) => team.tickets)
  const judged = { queue, teams, tickets, playing: [], now, headStartOf }
  const steps = Math.max(...tickets.map((ticket) => stepsOf(judged, ticket)))
  const counts = teams.map(({ kind, tickets }) => {
    const { size } = queue.teams?.find(({ name }) => name === kind) ?? { size: queue.matchSize ?? 0 }
    const { min, max } = typeof size === 'number' ? { min: size, max: size } : size
    const isLast = waited >= (queue.lastResortMs ?? Infinity)
    const least = hasBounds(min)
      ? limitWithin(min, isLast ? 24 : steps)
      : limitAfter(min, isLast ? Number.MAX_VALUE : waited)
    return { kind, players: tickets.flatMap(({ players }) => players).length, least, max }
  })
  const full = counts.every(({ players, max }) => players === max)
  return counts.flatMap(({ kind, players, least, max }) => {
    if (players > max) return [`${kind}: ${players} > ${max}`]
    if (!full && waited < (queue.fillForMs ?? 5000)) return [`${kind}: not full after ${waited} ms`]
    return players < least ? [`${kind}: ${players} < ${least}`] : []
  })
}

const lacks = (
  rule: { readonly attribute?: string | undefined; readonly missing?: unknown },
  { tickets }: Judged,
): boolean =>
  rule.attribute !== undefined &&
  (rule.missing ?? 'refuse') === 'refuse' &&
  tickets.some(({ players }) => players.some((player) => valueOf(player, rule.attribute ?? '') === undefined))

/** Calls the test for every two tickets, and for each ticket with itself, except between tickets that already play. */
function everyPair({ tickets, playing }: Judged, test: (one: RuleTicket, other: RuleTicket) => boolean): boolean {
  return tickets.every((one) =>
    tickets.every((other) => (playing.includes(one) && playing.includes(other)) || test(one, other)),
  )
}

function holds(rule: RuleDefinition, judged: Judged): boolean {
  const { tickets, teams, queue, now } = judged
  if ('attribute' in rule && lacks(rule, judged)) return false
  switch (rule.kind) {
    case 'distance': {
      const { missing = 'network' } = rule
      if (missing === 'refuse' && tickets.some(({ place }) => place === undefined)) return false
      return everyPair(judged, (one, other) => {
        const km = limitOf(rule, rule.maxKm, judged, [one, other])
        if (one === other || km === undefined) return true
        if (one.place && other.place) return greatCircleKm(one.place, other.place) <= km
        return missing === 'any' || (one.network !== undefined && one.network === other.network)
      })
    }
    case 'latency': {
      const players = tickets.flatMap((ticket) => ticket.players)
      const known = players.filter(({ latencies }) => Object.keys(latencies).length > 0)
      if ((rule.missing ?? 'refuse') === 'refuse' && known.length < players.length) return false
      if (limitOf(rule, 1, judged) === undefined || known.length === 0) return true
      const most = rule.maxMs === undefined ? Infinity : (limitOf(rule, rule.maxMs, judged) ?? Infinity)
      const difference =
        rule.maxDifferenceMs === undefined ? Infinity : (limitOf(rule, rule.maxDifferenceMs, judged) ?? Infinity)
      const beacons = new Set(known.flatMap(({ latencies }) => Object.keys(latencies)))
      return [...beacons].some((beacon) => {
        const trips = known.map(({ latencies }) => latencies[beacon] ?? Infinity)
        return Math.max(...trips) <= most && Math.max(...trips) - Math.min(...trips) <= difference
      })
    }
    case 'difference': {
      const standsOf = ({ players }: RuleTicket): number[] => {
        const values = valuesOf<number>(players, rule.attribute, rule.missing)
        const stands = rule.party === 'each' ? values : [aggregate(rule.party ?? 'avg', values)]
        return stands.filter((value) => value !== undefined)
      }
      return everyPairAmong(rule, judged, (one, other, between) => {
        const limit = limitOf(rule, rule.max, judged, between)
        if (limit === undefined) return true
        const [ours, theirs] = [standsOf(one), standsOf(other)]
        // Differences among tickets that already play do not count against those who join.
        const apart = judged.playing.includes(one) || judged.playing.includes(other)
        const all = [...ours, ...theirs]
        const [from, to] = apart ? [ours, theirs] : [all, all]
        return from.every((a) => to.every((b) => Math.abs(a - b) <= limit))
      })
    }
    case 'equal':
    case 'different':
      return everyPair(judged, (one, other) => {
        // With scope `team`, the rule is about the whole match, whose youngest ticket counts.
        const { scope = 'match' } = rule
        const between = scope === 'teams' || (scope === 'team' && teams.length > 1) ? tickets : [one, other]
        const counts = one === other || limitOf(rule, 1, judged, between) !== undefined
        if (!counts || (scope === 'team' && !isTogether(judged, one, other))) return true
        if (scope === 'teams') {
          if (isTogether(judged, one, other)) return true
          const [ours, theirs] = [one, other].map(({ players }) =>
            valuesOf<Scalar>(players, rule.attribute, rule.missing),
          )
          return !ours?.some((value) => theirs?.includes(value))
        }
        const players = one === other ? one.players : [...one.players, ...other.players]
        const values = valuesOf<Scalar>(players, rule.attribute, rule.missing)
        return rule.kind === 'equal' ? new Set(values).size <= 1 : new Set(values).size === values.length
      })
    case 'accepts':
      return everyPairAmong(rule, judged, (one, other, between) => {
        if (one === other || limitOf(rule, 1, judged, between) === undefined) return true
        const wanted = valuesOf<unknown>(one.players, rule.own, 'any')
        const values = valuesOf<unknown>(other.players, rule.attribute, rule.missing as Missing<unknown>)
        return wanted.every((want) => values.every((value) => compare(value, rule.operator, want)))
      })
    case 'any':
      return limitOf(rule, 1, judged) === undefined || verdictOf(rule, rule, judged) !== false
    case 'all':
      return limitOf(rule, 1, judged) === undefined || verdictOf(rule, rule, judged) !== false
    case 'not':
      return limitOf(rule, 1, judged) === undefined || verdictOf(rule, rule, judged) !== false
    case 'overlap': {
      const least = limitOf(rule, rule.atLeast ?? 1, judged) ?? 0
      return groupsOf(rule, judged).every((group) => {
        const lists = group.flatMap(({ players }) => {
          const all = valuesOf<readonly string[]>(players, rule.attribute, rule.missing)
          if (all.length === 0) return []
          return [rule.party === 'union' ? all.flat() : common(all)]
        })
        return lists.length === 0 || new Set(common(lists)).size >= least
      })
    }
    case 'require': {
      const { value, operator, attribute, party = 'each' } = rule
      const numeric =
        typeof value === 'number' || (typeof value === 'object' && typeof (value as unknown[])[0] !== 'string')
      const isOwn = (rule.by ?? 'each') === 'each'
      // Nothing is required of tickets that already play.
      return tickets.every((ticket) => {
        if (judged.playing.includes(ticket)) return true
        const { players } = ticket
        const between = isOwn ? [ticket] : tickets
        const limit = numeric
          ? limitOf(rule, value as RelaxingLimit, judged, between)
          : limitOf(rule, 1, judged, between) && value
        if (limit === undefined) return true
        const values = valuesOf<never>(players, attribute, rule.missing as Missing<never>)
        if (!numeric || party === 'each') return values.every((one) => compare(one, operator, limit))
        const stands = aggregate(party, values)
        return stands === undefined || compare(stands, operator, limit)
      })
    }
    case 'compare':
      return compareHolds(rule, judged)
    case 'roles':
      return (
        limitOf(rule, 1, judged) === undefined ||
        teams
          .filter(({ kind }) => (rule.team ?? kind) === kind)
          .every(({ tickets }) =>
            rolesHold(
              rule,
              tickets.flatMap(({ players }) => players),
            ),
          )
      )
    case 'avoid':
      return everyPairAmong(rule, judged, (one, other, between) => {
        if (one === other || limitOf(rule, 1, judged, between) === undefined) return true
        return !one.players.some(({ avoid }) => other.players.some(({ id }) => avoid.includes(id)))
      })
    case 'balance': {
      if (rule.measure === 'predictedWin')
        return predictionHolds(rule, judged) && (!isOneSided(judged) || (limitOf(rule, rule.max, judged) ?? 1) >= 1)
      const limit = limitOf(rule, rule.max, judged)
      const values = teams.flatMap(({ tickets }) => {
        const players = tickets.flatMap((ticket) => ticket.players)
        const missing = rule.missing as Missing<number>
        return aggregate(rule.aggregate ?? 'avg', valuesOf(players, rule.attribute ?? '', missing)) ?? []
      })
      if (limit === undefined || limit === Infinity) return true
      return !isOneSided(judged) && (values.length === 0 || Math.max(...values) - Math.min(...values) <= limit)
    }
    case 'custom': {
      if (limitOf(rule, 1, judged) === undefined) return true
      const proposed = (ticket: RuleTicket) => ({ ...ticket, waitedMs: now - ticket.createdAt })
      const proposal = teams.map(({ kind, tickets }) => ({ name: kind, tickets: tickets.map(proposed) }))
      return rule.test({ queue: queue.name, teams: proposal })
    }
  }
}

interface Among {
  readonly scope?: 'match' | 'team' | undefined
  readonly team?: string | undefined
}

/** Returns the tickets that a rule compares with one another. */
function groupsOf({ scope, team }: Among, { teams }: Judged): readonly (readonly RuleTicket[])[] {
  const own = teams.filter(({ kind }) => (team ?? kind) === kind).map(({ tickets }) => tickets)
  return scope === 'team' ? own : [own.flat()]
}

/**
 * Calls the test for every two tickets that the rule compares, with the tickets whose waits count. For a rule about
 * some teams, the waits of all tickets count.
 */
function everyPairAmong(
  among: Among,
  judged: Judged,
  test: (one: RuleTicket, other: RuleTicket, between: readonly RuleTicket[]) => boolean,
): boolean {
  const { tickets, teams } = judged
  const groups = groupsOf(among, judged)
  const isAboutAll = groups.flat().length === tickets.length && (among.scope !== 'team' || teams.length === 1)
  const isOfTeams = among.team !== undefined && teams.some(({ kind }) => kind !== among.team)
  return groups.every((group) =>
    everyPair({ ...judged, tickets: group }, (one, other) =>
      test(one, other, isAboutAll && !isOfTeams ? [one, other] : tickets),
    ),
  )
}

/** True if both are in the same team. */
const isTogether = ({ teams }: Judged, one: RuleTicket, other: RuleTicket): boolean =>
  teams.some(({ tickets }) => tickets.includes(one) && tickets.includes(other))

/** True if several tickets are in one team and every other team is empty. */
const isOneSided = ({ teams }: Judged): boolean =>
  teams.length > 1 &&
  teams.filter(({ tickets }) => tickets.length > 0).length === 1 &&
  teams.some(({ tickets }) => tickets.length > 1)

/**
 * Returns whether an inner rule holds; undefined if it does not apply. The rule uses the waits of the outermost rule,
 * and concerns all players of the match.
 */
function verdictOf(outer: RuleDefinition, rule: RuleDefinition, judged: Judged): boolean | undefined {
  const within = (inner: RuleDefinition, of = judged) => verdictOf(outer, inner, of)
  const all = (verdicts: readonly (boolean | undefined)[]) =>
    verdicts.some((one) => one === false) ? false : verdicts.every((one) => one === true) ? true : undefined
  switch (rule.kind) {
    case 'not': {
      const verdict = within(rule.rule)
      return verdict === undefined ? undefined : !verdict
    }
    case 'all':
      return all(rule.rules.map((inner) => within(inner)))
    case 'any': {
      const some = (verdicts: readonly (boolean | undefined)[]) => {
        const refused = all(verdicts.map((one) => (one === undefined ? undefined : !one)))
        return refused === undefined ? undefined : !refused
      }
      const about = new Set(rule.rules.map(teamOfCount))
      const [only] = about
      if (about.size > 1 || only === undefined) return some(rule.rules.map((inner) => within(inner)))
      const own = judged.teams.filter(({ kind }) => only === '*' || only === kind)
      return all(own.map((team) => some(rule.rules.map((inner) => within(inner, { ...judged, only: team })))))
    }
    default: {
      const { by = 'each', hard, optionalAfterMs } = outer
      const inner = { ...rule, by: by === 'each' ? ('youngest' as const) : by, hard, optionalAfterMs }
      if (!holds(inner, { ...judged, playing: [] })) return false
      return saysNothing(rule, judged) ? undefined : true
    }
  }
}

/** Returns the team whose number is compared with a constant: `*` for each team; undefined for other rules. */
const teamOfCount = (rule: RuleDefinition): string | undefined =>
  rule.kind === 'compare' && rule.scope !== 'match' && rule.otherTeam === undefined ? (rule.team ?? '*') : undefined

/** True if no player has what the rule compares, or only one player has it where two are compared. */
function saysNothing(rule: RuleDefinition, judged: Judged): boolean {
  const { tickets, teams } = judged
  const known = (of: readonly RuleTicket[], attribute: string, missing: unknown) =>
    valuesOf<unknown>(
      of.flatMap(({ players }) => players),
      attribute,
      missing as Missing<unknown>,
    ).length
  switch (rule.kind) {
    case 'distance':
      return tickets.filter(({ place }) => place !== undefined || (rule.missing ?? 'network') === 'network').length < 2
    case 'latency':
      return tickets.every(({ players }) => players.every(({ latencies }) => Object.keys(latencies).length === 0))
    case 'difference':
    case 'overlap':
      return groupsOf(rule, judged).every((group) => known(group, rule.attribute, rule.missing) < 2)
    case 'equal':
    case 'different': {
      const groups = rule.scope === undefined || rule.scope === 'match' ? [tickets] : teams.map((team) => team.tickets)
      if (rule.scope === 'teams')
        return groups.filter((group) => known(group, rule.attribute, rule.missing) > 0).length < 2
      return groups.every((group) => known(group, rule.attribute, rule.missing) < 2)
    }
    case 'require':
      return known(tickets, rule.attribute, rule.missing) === 0
    case 'accepts':
      return groupsOf(rule, judged).every((group) =>
        group.every(
          (one) =>
            known([one], rule.own, 'any') === 0 ||
            group.every((other) => other === one || known([other], rule.attribute, rule.missing) === 0),
        ),
      )
    case 'compare': {
      const isAlways = rule.aggregate === 'count' || rule.aggregate === 'sum'
      const isKnown = (of: readonly RuleTicket[]) => isAlways || known(of, rule.attribute ?? '', rule.missing) > 0
      if (rule.scope === 'match') return !isKnown(tickets)
      const own = comparedTeams(rule, judged).filter((team) => isKnown(team.tickets))
      if (rule.otherTeam === undefined) return own.length === 0
      const others = teams.filter(({ kind, tickets: there }) => kind === rule.otherTeam && isKnown(there))
      return !own.some((team) => others.some((other) => other !== team))
    }
    case 'balance': {
      const attribute = rule.attribute
      const counts = ({ tickets: there }: JudgedTeam) =>
        attribute === undefined ? there.length > 0 : known(there, attribute, rule.missing) > 0
      return teams.filter(counts).length < 2
    }
    default:
      return false
  }
}

/** Returns the teams whose numbers a rule compares. */
const comparedTeams = (rule: CompareRule, { teams, only }: Judged): readonly JudgedTeam[] =>
  teams.filter((team) => (rule.team ?? team.kind) === team.kind && (only ?? team) === team)

const common = ([first = [], ...others]: readonly (readonly string[])[]): string[] =>
  first.filter((text) => others.every((list) => list.includes(text)))

function compareHolds(rule: CompareRule, judged: Judged): boolean {
  const counts = limitOf(rule, rule.value ?? 1, judged)
  if (counts === undefined) return true
  const value = ({ tickets }: JudgedTeam) => {
    const players = tickets.flatMap((ticket) => ticket.players)
    if (rule.aggregate === 'count') return players.length
    return aggregate(rule.aggregate, valuesOf(players, rule.attribute ?? '', rule.missing))
  }
  if (rule.scope === 'match') {
    const one = value({ kind: '', tickets: judged.tickets })
    return one === undefined || compare(one, rule.operator, counts)
  }
  const own = comparedTeams(rule, judged)
  const others = judged.teams.filter(({ kind }) => rule.otherTeam === kind)
  return own.every((team) => {
    const one = value(team)
    if (one === undefined) return true
    if (rule.otherTeam === undefined) return compare(one, rule.operator, counts)
    return others.every(
      (other) => other === team || value(other) === undefined || compare(one, rule.operator, value(other)),
    )
  })
}

/** True if each place of a role can go to a player who can play it. Tries all assignments. */
function rolesHold({ roles }: RolesRule, players: readonly RulePlayer[]): boolean {
  const counts = Object.entries(roles).map(([role, count]) => {
    const { min, max = Infinity } = typeof count === 'number' ? { min: count } : count
    return { role, min, max }
  })
  const only = (role: string) =>
    players.filter((player) => player.roles.length === 1 && player.roles[0] === role).length
  if (counts.some(({ role, max }) => only(role) > max)) return false
  const filled = (places: readonly string[], free: readonly RulePlayer[]): boolean => {
    const [role, ...others] = places
    if (role === undefined) return true
    return free.some(
      (player) =>
        player.roles.includes(role) &&
        filled(
          others,
          free.filter((one) => one !== player),
        ),
    )
  }
  return filled(
    counts.flatMap(({ role, min }) => Array.from({ length: min }, () => role)),
    players,
  )
}
