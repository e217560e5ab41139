import { describeQueue, type LimitCurve, type Queue } from '@muster/matchmaker'
import type { WaitOf } from '@muster/matchmaker/internal'
import type { Crowd } from '../crowd/index.js'
import type { MatchOutcome, RunOutcome, ServerUse } from '../run/index.js'
import { rounded, spreadOf } from '../statistics/index.js'
import {
  curveOf,
  type End,
  type Expansion,
  type Fairness,
  type Figures,
  type GroupFairness,
  type PoolFigures,
  type QueueFigures,
  refusalsOf,
  type ServerFigures,
  type Slice,
} from './figures.js'
import { matchFigures, measureMatches, type MatchTeams } from './measure-matches.js'
import {
  bandsOf,
  type SeatGroups,
  type SeatMeasure,
  scaleOf,
  type SeatTable,
  seatsOf,
  type SkillScale,
  skillsOf,
} from './seats.js'

/** Number of decimals to which figures are rounded: enough for any distinction. */
const DECIMALS = {
  waitMs: 0,
  toPlayMs: 0,
  distanceKm: 1,
  latencyMs: 1,
  skillSpread: 3,
  teamGap: 3,
  winChance: 4,
} as const

/**
 * Returns the figures of a part of the players.
 * @param members indexes of their seats.
 * @param queue the queue that is described. Players matched in another queue end as `otherQueue`. Default: all queues.
 */
function sliceOf(members: Int32Array, seats: SeatTable, outcome: RunOutcome, queue?: string): Slice {
  const counts = new Map<End, number>()
  const matched = members.filter((seat) => {
    const end = endOf(seats.ticket[seat] as number, outcome, queue)
    counts.set(end, (counts.get(end) ?? 0) + 1)
    return end === 'assigned'
  })
  const share = (end: End) => (members.length === 0 ? 0 : rounded((counts.get(end) ?? 0) / members.length, 6))
  const known = (measure: SeatMeasure) => knownOf(seats.measures[measure], matched)
  const spread = (measure: SeatMeasure) => spreadOf(known(measure), DECIMALS[measure])
  return {
    players: members.length,
    matched: share('assigned'),
    gaveUp: share('gaveUp'),
    ends: Object.fromEntries([...counts.keys()].toSorted().map((end) => [end, share(end)])),
    waitMs: spread('waitMs'),
    toPlayMs: spread('toPlayMs'),
    waitCurve: curveOf(known('waitMs').toSorted(), members.length),
    distanceKm: spread('distanceKm'),
    latencyMs: spread('latencyMs'),
    skillSpread: spread('skillSpread'),
    teamGap: spread('teamGap'),
    winChance: spread('winChance'),
  }
}

function endOf(ticket: number, { tickets, matches }: RunOutcome, queue: string | undefined): End {
  const { end = 'waiting', match = -1 } = tickets[ticket] ?? {}
  return end === 'assigned' && queue !== undefined && matches[match]?.queue !== queue ? 'otherQueue' : end
}

function knownOf(column: Float64Array, seats: Int32Array): Float64Array {
  const values = new Float64Array(seats.length)
  let count = 0
  for (const seat of seats) {
    const value = column[seat] as number
    if (Number.isNaN(value)) continue
    values[count] = value
    count += 1
  }
  return values.subarray(0, count)
}

/** Returns the figures of each group that has players. */
function slicesOf({ names, of }: SeatGroups, seats: SeatTable, outcome: RunOutcome): Readonly<Record<string, Slice>> {
  const members = names.map((): number[] => [])
  for (const [seat, group] of of.entries()) members[group]?.push(seat)
  return Object.fromEntries(
    names.flatMap((name, group) => {
      const some = members[group] ?? []
      return some.length === 0 ? [] : [[name, sliceOf(Int32Array.from(some), seats, outcome)]]
    }),
  )
}

/** A matched ticket: its wait in milliseconds, and its number of players. */
interface MatchedWait {
  readonly ms: number
  readonly players: number
}

function expansionsOf(queue: Queue, matches: readonly MatchOutcome[], crowd: Crowd, outcome: RunOutcome): Expansion[] {
  // Limits that follow the arrival of players are omitted, because the waits alone do not determine their values.
  const curves = describeQueue(queue).curves.filter(({ points, adapts }) => points.length > 1 && adapts !== true)
  if (curves.length === 0) return []
  const waited = matches.map((match) =>
    match.tickets.flatMap((index): MatchedWait[] => {
      const ticket = outcome.tickets[index]
      if (ticket?.matchedAt === undefined) return []
      return [{ ms: ticket.matchedAt - ticket.createdAt, players: crowd.parties[ticket.party]?.players.length ?? 0 }]
    }),
  )
  return curves.map((curve) => expansionOf(curve, whoseWait(curve, queue), waited))
}

function expansionOf(
  { rule, unit, points }: LimitCurve,
  whose: Whose,
  matches: readonly (readonly MatchedWait[])[],
): Expansion {
  const players = new Float64Array(points.length)
  const count = (ms: number, many: number) => {
    const step = points.findLastIndex(({ after }) => after <= ms)
    players[step] = (players[step] as number) + many
  }
  for (const tickets of matches) {
    if (tickets.length === 0) continue
    const ofMatch = whose === 'own' ? undefined : waitOfMatch(tickets, whose)
    for (const { ms, players: many } of tickets) count(ofMatch ?? ms, many)
  }
  const all = players.reduce((sum, many) => sum + many, 0) || 1
  const steps = points.map(({ after, limit }, step) => ({
    after,
    limit,
    share: rounded((players[step] as number) / all, 6),
  }))
  return { rule, unit, steps }
}

/** Whose wait relaxes a limit: that of each ticket (`own`), or one wait of the match. */
type Whose = 'own' | Exclude<WaitOf, 'each'>

/** The kinds of rules that compare tickets or check one. Each ticket has its own limit. */
const OF_TICKETS: ReadonlySet<string> = new Set(['distance', 'difference', 'require'])

function whoseWait({ rule: name }: LimitCurve, { rules }: Queue): Whose {
  const named = rules
    .filter((rule) => name === rule.name || name === `${rule.name} difference` || name.startsWith(`${rule.name}: `))
    .toSorted((a, b) => b.name.length - a.name.length)[0]
  // A limit without a rule is the minimum size of a team, which falls with the oldest ticket's wait.
  if (named === undefined) return 'oldest'
  const { by = 'each', kind } = named
  if (by !== 'each') return by
  return OF_TICKETS.has(kind) ? 'own' : 'youngest'
}

function waitOfMatch(tickets: readonly MatchedWait[], whose: Exclude<Whose, 'own'>): number {
  const waits = tickets.map(({ ms }) => ms)
  if (whose === 'youngest') return Math.min(...waits)
  if (whose === 'oldest') return Math.max(...waits)
  return waits.reduce((sum, ms) => sum + ms, 0) / waits.length
}

/** Share of the players that counts as the worst served, from 0 to 1. */
const WORST = 0.05

/** The ends of players who wanted a match and found none. */
const UNSERVED: ReadonlySet<End> = new Set(['gaveUp', 'expired', 'attempts', 'refused'])

function fairnessOf(seats: SeatTable, { tickets }: RunOutcome): Fairness {
  /** The waits of the counted players, by seat. Infinity for a player without a match. */
  const waits = new Map<number, number>()
  for (const [seat, wait] of seats.measures.waitMs.entries()) {
    const end = tickets[seats.ticket[seat] as number]?.end ?? 'waiting'
    if (UNSERVED.has(end)) waits.set(seat, Infinity)
    else if (!Number.isNaN(wait)) waits.set(seat, wait)
  }
  const { from, partOf } = worstOf(Float64Array.from(waits.values()))
  const by = (groups: SeatGroups) => groupFairness(groups, waits, partOf)
  const { region, partySize, skillBand } = seats.groups
  return {
    share: WORST,
    fromMs: from === Infinity ? null : from,
    by: { region: by(region), partySize: by(partySize), skillBand: by(skillBand) },
  }
}

/**
 * Finds the worst served. `from` is the shortest wait among them. `partOf` returns which part of a player with a given
 * wait is among them, from 0 to 1. If several players have the wait at the edge, each counts in part, so that none is
 * chosen at random.
 */
function worstOf(waits: Float64Array): { readonly from: number; readonly partOf: (wait: number) => number } {
  if (waits.length === 0) return { from: 0, partOf: () => 0 }
  waits.sort()
  const most = WORST * waits.length
  const from = waits[waits.length - Math.ceil(most)] as number
  const [begin, end] = [waits.indexOf(from), waits.lastIndexOf(from) + 1]
  const part = (most - (waits.length - end)) / (end - begin)
  return { from, partOf: (wait) => (wait === from ? part : Number(wait > from)) }
}

function groupFairness(
  { names, of }: SeatGroups,
  waits: ReadonlyMap<number, number>,
  partOf: (wait: number) => number,
): GroupFairness {
  const [all, worst] = [new Float64Array(names.length), new Float64Array(names.length)]
  for (const [seat, wait] of waits) {
    const group = of[seat] as number
    if (group < 0) continue
    all[group] = (all[group] as number) + 1
    worst[group] = (worst[group] as number) + partOf(wait)
  }
  const [allSum, worstSum] = [sum(all) || 1, sum(worst) || 1]
  let uneven = 0
  const groups = names.flatMap((name, group) => {
    if (all[group] === 0) return []
    const [ofAll, ofWorst] = [(all[group] as number) / allSum, (worst[group] as number) / worstSum]
    uneven += Math.max(0, ofWorst - ofAll)
    return [[name, { ofAll: rounded(ofAll, 6), ofWorst: rounded(ofWorst, 6) }] as const]
  })
  return { uneven: rounded(uneven, 6), groups: Object.fromEntries(groups) }
}

const sum = (values: Float64Array) => values.reduce((total, value) => total + value, 0)

export interface FiguresOptions {
  /** The queues of the run, as `defineQueue` returns them. */
  readonly queues: readonly Queue[]
  /** The number attribute that is used for players whose true skill is unknown. Default `skill`. */
  readonly skillAttribute?: string | undefined
  /** The scale of skill differences. Default: mean and standard deviation of the crowd's skill. */
  readonly skillScale?: SkillScale | undefined
  /** Price of a server. Default: no cost is computed. */
  readonly price?: { readonly perMinute: number; readonly currency: string } | undefined
}

/**
 * Computes the figures of a run. The time is proportional to the number of players in tickets: half a second for
 * 250,000.
 */
export function figuresOf(crowd: Crowd, outcome: RunOutcome, options: FiguresOptions): Figures {
  const { queues, skillAttribute = 'skill', price } = options
  const skills = skillsOf(crowd, skillAttribute)
  const skillBands = bandsOf(skills)
  const seats = seatsOf(crowd, outcome, skillBands, skillAttribute)
  const teams = measureMatches(crowd, outcome, seats, options.skillScale ?? scaleOf(skills))
  const { region, partySize, skillBand } = seats.groups
  const slices = (groups: typeof region) => slicesOf(groups, seats, outcome)
  return {
    all: sliceOf(Int32Array.from(seats.ticket.keys()), seats, outcome),
    by: {
      queue: Object.fromEntries(
        queues.map(({ name }) => [name, sliceOf(waitedIn(name, crowd, outcome, seats), seats, outcome, name)]),
      ),
      region: slices(region),
      partySize: slices(partySize),
      skillBand: slices(skillBand),
    },
    skillBands,
    matches: matchFigures(teams),
    queues: Object.fromEntries(queues.map((queue) => [queue.name, queueFigures(queue, crowd, outcome, teams)])),
    fairness: fairnessOf(seats, outcome),
    refusals: refusalsOf(crowd, outcome),
    servers: serverFigures(outcome.servers, price),
    pools: Object.fromEntries(
      Object.entries(outcome.pools).map(([name, use]) => [
        name,
        { ...served(name, queues, seats, outcome), ...serverFigures(use, price) },
      ]),
    ),
    requests: outcome.requests,
  }
}

/** Returns the seats of tickets that waited in a queue. */
function waitedIn(queue: string, { parties }: Crowd, { tickets }: RunOutcome, { ticket }: SeatTable): Int32Array {
  const waited = tickets.map(({ party }) => parties[party]?.queues?.includes(queue) ?? true)
  return Int32Array.from(ticket.keys()).filter((seat) => waited[ticket[seat] as number])
}

function queueFigures(queue: Queue, crowd: Crowd, outcome: RunOutcome, teams: MatchTeams): QueueFigures {
  const own = outcome.matches.filter((match) => match.queue === queue.name)
  return {
    matches: matchFigures(teams.filter((_, index) => outcome.matches[index]?.queue === queue.name)),
    expansion: expansionsOf(queue, own, crowd, outcome),
  }
}

/** Returns the figures of a pool, for the matches of the queues that use it. */
function served(
  pool: string,
  queues: readonly Queue[],
  { first, measures }: SeatTable,
  { matches }: RunOutcome,
): Pick<PoolFigures, 'matches' | 'warm' | 'toPlayMs'> {
  const names = new Set(queues.flatMap((queue) => (queue.pool === pool ? queue.name : [])))
  const own = matches.filter(({ queue }) => names.has(queue))
  const warm = own.filter(({ isWarm }) => isWarm).length
  const toPlayMs = own.flatMap(({ tickets }) =>
    tickets.flatMap((ticket) => [...measures.toPlayMs.subarray(first[ticket], first[ticket + 1])]),
  )
  return {
    matches: own.length,
    warm: own.length === 0 ? 0 : rounded(warm / own.length, 6),
    toPlayMs: spreadOf(Float64Array.from(toPlayMs), DECIMALS.toPlayMs),
  }
}

function serverFigures(use: ServerUse, price: FiguresOptions['price']): ServerFigures {
  const { created, most, seconds, bootSeconds, idleSeconds } = use
  const hours = (some: number) => rounded(some / 3600, 3)
  const base = {
    created,
    most,
    hours: hours(seconds),
    playingHours: hours(seconds - bootSeconds - idleSeconds),
    idleHours: hours(idleSeconds),
    bootHours: hours(bootSeconds),
  }
  return price === undefined
    ? base
    : { ...base, cost: rounded((seconds / 60) * price.perMinute, 4), currency: price.currency }
}
