import { pointOf } from '@muster/core/internal'
import type { Checks, Entry, Model, Opening } from '@muster/kernel'
import { InvalidTicket } from '../errors.js'
import { regionIn } from '../wait-times/index.js'
import { type Queue, thoroughMsOf } from './queue.js'
import {
  type QueueLevels,
  type Facts,
  type NamedTeam,
  type Refuse,
  type RuleOpening,
  type RuleTicket,
  teamShapes,
} from './rule-parts/index.js'
import { levelsOf, type CompiledRule, compileRule } from './rules/index.js'

/** A queue compiled for the kernel. */
export interface CompiledQueue {
  readonly queue: Queue
  readonly model: Model<Facts>
  readonly levels: QueueLevels
  /** The compiled rules, in the order of the queue. */
  readonly rules: readonly CompiledRule[]
  /**
   * Creates the kernel's entry of a ticket.
   * @throws {InvalidTicket} naming the path, e.g. `players.0.attributes.skill`; also if the ticket could never be
   *   matched
   */
  entryOf(ticket: RuleTicket): Entry<Facts>
  /**
   * Creates the kernel's entry of a backfill. @throws {InvalidTicket} naming the path, e.g.
   * `present.1.0.players.0.attributes.skill`
   */
  openingOf(opening: RuleOpening): Opening<Facts>
}

const NOTHING: readonly never[] = []

/**
 * Compiles a queue for the kernel.
 * @param failed called when a custom rule throws, which counts as a rejection. Called once for each rule until its
 *   error changes.
 */
export function compileQueue(queue: Queue, failed: (error: Error) => void = () => {}): CompiledQueue {
  const reported = new Map<string, string>()
  const tell = (rule: string, cause: unknown) => {
    const message = `rule ${JSON.stringify(rule)} of queue ${JSON.stringify(queue.name)} failed: ${String(cause)}`
    if (reported.get(rule) === message) return
    reported.set(rule, message)
    failed(new Error(message, { cause }))
  }
  const levels = levelsOf(queue)
  const teams = teamShapes(queue.teams, levels)
  const rules = queue.rules.map((rule, index) =>
    compileRule(rule, { index, queue: queue.name, levels, teams, failed: tell }),
  )
  const { at, lastResort } = levels
  const spans = rules.filter((rule) => rule.span !== undefined)
  const keys = rules.filter((rule) => rule.keyOf !== undefined)
  const needFacts = rules.some((rule) => rule.factOf !== undefined)
  const adaptive = queue.targetWaitMs !== undefined
  const checkHope = assertSatisfiable(rules, teams, levels)

  const factsOf = (ticket: RuleTicket, refuse: Refuse): Facts => ({
    ticket,
    of: needFacts ? rules.map((rule) => rule.factOf?.(ticket, refuse)) : NOTHING,
  })
  const valuesOf = (ticket: RuleTicket, refuse: Refuse): readonly number[] => {
    if (spans.length === 0) return NOTHING
    const [first] = spans
    if (spans.length === 1) return first?.boundsOf?.(ticket, refuse) ?? NOTHING
    const values = new Array<number>(2 * spans.length)
    for (let span = 0; span < spans.length; span += 1) {
      const bounds = spans[span]?.boundsOf?.(ticket, refuse)
      values[2 * span] = bounds?.[0] ?? Number.NaN
      values[2 * span + 1] = bounds?.[1] ?? Number.NaN
    }
    return values
  }
  const keyOf = (ticket: RuleTicket, refuse: Refuse) =>
    keys.length === 0 ? '' : JSON.stringify(keys.map((rule) => rule.keyOf?.(ticket, refuse)))

  return {
    queue,
    levels,
    rules,
    model: {
      levels: at,
      lastResortLevel: lastResort,
      adaptive,
      teams: teams.map(({ name, max, min, kind }) => ({ name, max, min, kind })),
      fillForMs: queue.fillForMs,
      radius: rules.find((rule) => rule.radius !== undefined)?.radius,
      apart: rules.find((rule) => rule.apart !== undefined)?.apart,
      spans: spans.flatMap(({ span }) => span ?? []),
      checks: checksOf(rules),
      prefer: queue.prefer && weightsOf(queue.prefer, spans),
      patience: queue.patience && {
        ...queue.patience,
        thoroughMs: thoroughMsOf(queue.patience, queue.expireAfterMs),
      },
    },

    entryOf: (ticket) => {
      const facts = factsOf(ticket, invalidTicket)
      checkHope(facts, invalidTicket)
      return {
        id: ticket.id,
        size: ticket.players.length,
        since: ticket.createdAt,
        priority: ticket.priority,
        region: adaptive ? regionIn(ticket.place) : undefined,
        key: keyOf(ticket, invalidTicket),
        place: ticket.place && pointOf(ticket.place),
        network: ticket.network,
        values: valuesOf(ticket, invalidTicket),
        facts,
      }
    },

    openingOf: (opening) => {
      const present = opening.present.map((team, index) =>
        team.map((ticket, member) => ({ ticket, refuse: refusal(`present.${index}.${member}.`) })),
      )
      const [first] = present.flat()
      if (first === undefined && keys.length > 0) {
        throw invalidTicket(
          'present',
          `must not be empty, because rule ${JSON.stringify(keys[0]?.rule.name)} compares players`,
        )
      }
      const nobody = { ...opening, players: [] }
      return {
        id: opening.id,
        since: opening.createdAt,
        priority: opening.priority,
        place: opening.place && pointOf(opening.place),
        network: opening.network,
        key: first === undefined ? '' : keyOf(first.ticket, first.refuse),
        values: around(
          present.flat().map(({ ticket, refuse }) => valuesOf(ticket, refuse)),
          spans.length,
        ),
        facts: factsOf(nobody, invalidTicket),
        rooms: opening.rooms,
        players: opening.present.map((team) => team.reduce((sum, { players }) => sum + players.length, 0)),
        present: present.map((team) =>
          team.map(({ ticket, refuse }) => ({ ...factsOf(ticket, refuse), isPresent: true })),
        ),
      }
    },
  }
}

/** Returns the weights of the distance and of each span. The kernel fills in defaults for undefined weights. */
const weightsOf = (prefer: Readonly<Record<string, number>>, spans: readonly CompiledRule[]) => ({
  distance: prefer['distance'],
  spans: spans.map(({ rule }) => prefer['attribute' in rule ? String(rule.attribute) : '']),
  waiting: prefer['waiting'],
  parties: prefer['parties'],
})

const refusal =
  (prefix: string): Refuse =>
  (path, message) =>
    new InvalidTicket(`ticket: ${prefix}${path}: ${message}`, { field: prefix + path })

const invalidTicket = refusal('')

/** Returns, for each span, the lowest low and the highest high of the tickets. */
function around(values: readonly (readonly number[])[], spans: number): number[] {
  return Array.from({ length: spans * 2 }, (_, at) => {
    const known = values.flatMap((one) => (Number.isNaN(one[at]) ? [] : (one[at] ?? [])))
    if (known.length === 0) return Number.NaN
    return at % 2 === 0 ? Math.min(...known) : Math.max(...known)
  })
}

/** Joins tests into one that passes only if all of them pass. Returns undefined without tests. */
function joined<Given extends readonly unknown[]>(tests: readonly ((...given: Given) => boolean)[]) {
  const [first] = tests
  return tests.length <= 1 ? first : (...given: Given) => tests.every((test) => test(...given))
}

/** Joins the checks of all rules into one that passes only if every rule passes. */
function checksOf(rules: readonly CompiledRule[]): Checks<Facts> | undefined {
  const pairs = rules.flatMap(({ pair }) => pair ?? [])
  const checked = rules.filter(({ quotasDecide, counts }) => quotasDecide !== true && counts === undefined)
  const parts = checked.flatMap(({ part }) => part ?? [])
  const wholes = checked.flatMap(({ whole, isBalance }) => (isBalance === true ? [] : (whole ?? [])))
  const balanced = checked.flatMap(({ whole, isBalance }) => (isBalance === true ? (whole ?? []) : []))
  const counted = rules.filter(({ counts }) => counts !== undefined)
  const counts = joined(counted.flatMap(({ counts: ofRule }) => ofRule ?? []))
  const unevennesses = rules.flatMap(({ unevenness }) => unevenness ?? [])
  const quotas = rules.flatMap((rule) => rule.quotas ?? [])
  if (pairs.length + parts.length + wholes.length + unevennesses.length + quotas.length + counted.length === 0)
    return undefined
  return {
    pair: joined(pairs),
    part: joined(parts),
    whole: joined(wholes),
    balanced: joined(balanced),
    counts: counts && { allows: counts, isSteady: counted.every(({ isSteady }) => isSteady === true) },
    unevenness:
      unevennesses.length === 0 ? undefined : (teams) => unevennesses.reduce((sum, one) => sum + one(teams), 0),
    quotas,
    timed: rules.some((one) => one.timed === true || (one.whole !== undefined && one.rule.by === 'average')),
  }
}

/**
 * Refuses tickets that could never be matched, because their party fits into no team, or because a rule about teams
 * rejects the party alone in every team, even after the longest wait. All other rules refuse such tickets themselves.
 */
function assertSatisfiable(rules: readonly CompiledRule[], teams: readonly NamedTeam[], { last }: QueueLevels) {
  const aboutTeams = rules.filter(
    ({ rule, part }) => part !== undefined && (rule.kind === 'roles' || rule.kind === 'compare'),
  )
  const largest = Math.max(...teams.map(({ max }) => max))
  /** Index of the first team of each kind. Teams of one kind are alike, so one of them is enough. */
  const firsts = teams.flatMap(({ kind }, team) => (teams.findIndex((one) => one.kind === kind) === team ? [team] : []))

  const lets = ({ part }: CompiledRule, facts: Facts, team: number): boolean => {
    const size = facts.ticket.players.length
    const room = teams.map(({ max }, index) => (index === team ? max - size : max))
    const alone = teams.map((_, index) => (index === team ? [facts] : []))
    return part?.(alone, room, { youngest: last, oldest: last, average: last, now: facts.ticket.createdAt }) ?? true
  }

  return (facts: Facts, refuse: Refuse): void => {
    const size = facts.ticket.players.length
    if (size > largest) throw refuse('players', `a party of ${size} is too big: a team takes at most ${largest}`)
    if (aboutTeams.length === 0) return
    const fitting = firsts.filter((team) => (teams[team]?.max ?? 0) >= size)
    const never = aboutTeams.find((rule) => !fitting.some((team) => lets(rule, facts, team)))
    if (never !== undefined)
      throw refuse('players', `can never be matched, because of rule ${JSON.stringify(never.rule.name)}`)
  }
}
