// pure: why a ticket still waits, and what will change it
import { kmOf } from '@muster/core/internal'
import type { Entry, Pool, Slot } from '@muster/kernel'
import type { CompiledQueue } from './compile.js'
import { type SayIsSimilar, similarValue } from './similar-values.js'
import {
  count,
  fullMatch,
  type NextRelaxation,
  readable,
  relaxationSentence,
  relaxationsOf,
  rounded,
  ruleNames,
  shownLimits,
  smallestMatch,
} from './next-relaxation.js'
import type { Facts, RuleTicket } from './rule-parts/index.js'
import type { CompiledRule, Rule } from './rules/index.js'

/** Why a ticket still waits in a queue: plain data that reveals nothing about other players except numbers. */
export interface Explanation {
  readonly queue: string
  /** True if the queue is paused: then nothing else matters for now. */
  readonly paused?: boolean | undefined
  /** One sentence or two in English. */
  readonly summary: string
  /** Milliseconds that the ticket has waited. */
  readonly waitedMs: number
  /** Other tickets in the queue. */
  readonly waiting: number
  /**
   * Number of other tickets that were compared: the nearest ones, at most 16. If a match has more than 16 players, at
   * most that many.
   */
  readonly others: number
  /** Number of compared tickets that could be in a match with this ticket now. */
  readonly compatible: number
  /** For each rule about pairs of tickets: how many of the compared tickets the rule allows by itself. */
  readonly rules: readonly { readonly rule: string; readonly lets: number }[]
  /** The rule that blocks most: it allows the fewest tickets, or the players that it needs are missing. */
  readonly blocking?: string | undefined
  /** The blocked ticket that is closest to being allowed. */
  readonly nearest?: NearMiss | undefined
  /** Players still missing for a match, if all compatible tickets were in it. */
  readonly lacks: number
  /** The target wait of the queue (`targetWaitMs`), if its limits follow the arrival of players. */
  readonly targetWaitMs?: number | undefined
  /** With `targetWaitMs`: milliseconds by which the ticket's limits are ahead of its wait; negative if behind. */
  readonly aheadMs?: number | undefined
  /**
   * Milliseconds for which matches of this ticket may be delayed in favour of cheaper ones, or be missed because they
   * need a long search (`patience`).
   */
  readonly patientForMs?: number | undefined
  /** The next relaxation of a limit. */
  readonly next?: NextRelaxation | undefined
}

/** How far a ticket is from being allowed, in the unit of the limit. */
export interface NearMiss {
  readonly rule: string
  readonly value: number
  readonly limit: number
  /** The measured distance, latency or difference between the two tickets. */
  readonly gap: number
  /** Unit of the limit; undefined for an attribute, whose unit only the game knows. */
  readonly unit?: 'km' | 'ms' | undefined
}

/**
 * Maximum number of other tickets that are compared, unless a match has more players (our choice): few enough to
 * explain every ticket each second.
 */
const MOST_OTHERS = 16
/** Maximum number of other tickets whose values of equality rules are compared (our choice). */
const MOST_KEYS = 256

export type Explain = (pool: Pool<Facts>, slot: Slot, now: number) => Explanation

/** Creates the explainer of a queue, for any ticket in its pool. */
export function createExplain(compiled: CompiledQueue): Explain {
  const { model, queue } = compiled
  const probes = probesOf(compiled)
  const names = probes.map(({ rule }) => rule.name)
  const shortages = compiled.rules.filter(({ shortage }) => shortage !== undefined)
  const keys = compiled.rules.filter(({ keyOf }) => keyOf !== undefined)
  const aboutMatches = compiled.rules.filter(({ whole, pair }) => whole !== undefined && pair === undefined)
  const namesOf = (rules: readonly CompiledRule[]) => rules.map(({ rule }) => rule.name)
  const counted = namesOf(compiled.rules.filter(({ counts }) => counts !== undefined))
  const together = namesOf(aboutMatches.filter(({ counts }) => counts === undefined))
  const nextAt = relaxationsOf(compiled)
  const similarIn = similarValuesOf(compiled)
  /** Returns the level that counts in a match of these two tickets. */
  const levelFor = (
    { rule }: Probe,
    one: ProbedEntry,
    other: ProbedEntry,
    level: number,
    otherLevel: number,
    now: number,
  ): number => {
    const highest = Math.max(level, otherLevel)
    if (highest >= model.lastResortLevel) return model.lastResortLevel
    if (rule.by === 'oldest') return highest
    if (rule.by !== 'average') return Math.min(level, otherLevel)
    if (model.adaptive === true) return Math.floor((level + otherLevel) / 2)
    const waited = now - (one.since + other.since) / 2
    return model.levels.findLastIndex((ms) => ms <= waited)
  }
  const full = fullMatch(model)
  const patientMs = model.patience?.thoroughMs ?? 0
  /**
   * Returns the names of the equality rules that separate the ticket from all others. If no other ticket has the same
   * key for one of the rules, that rule alone is returned. Otherwise all rules are returned.
   */
  const unsharedIn = (pool: Pool<Facts>, slot: Slot): readonly string[] => {
    const ticketOf = (one: Slot) => pool.entryOf(one).facts.ticket
    const others = pool.some(MOST_KEYS).flatMap((one) => (one === slot ? [] : [ticketOf(one)]))
    const alone = keys.find(({ keyOf }) => {
      const key = (ticket: RuleTicket) => keyOf?.(ticket, (_, message) => new Error(message))
      return others.every((other) => key(other) !== key(ticketOf(slot)))
    })
    return namesOf(alone === undefined ? keys : [alone])
  }

  return (pool, slot, now) => {
    const self = pool.entryOf(slot)
    const level = pool.levelOf(slot, now)
    const waitedMs = Math.max(0, now - self.since)
    const others = pool.around(slot, now, Math.max(MOST_OTHERS, full))
    const lets = new Uint8Array(probes.length)
    const everyone = [self.facts]
    let players = self.size
    let nearest: NearMiss | undefined
    let nearness = Infinity

    for (const one of others) {
      const other = pool.entryOf(one)
      const otherLevel = pool.levelOf(one, now)
      let failed: Probe | undefined
      let failures = 0
      for (let at = 0; at < probes.length; at += 1) {
        const probe = probes[at] as Probe
        const between = levelFor(probe, self, other, level, otherLevel, now)
        const isLast = between === model.lastResortLevel
        const own = isLast ? [between, between] : [level, otherLevel]
        if (probe.passes(self, other, between, own)) lets[at] = (lets[at] as number) + 1
        else {
          failed = probe
          failures += 1
        }
      }
      if (failed === undefined) {
        everyone.push(other.facts)
        players += other.size
      } else if (failures === 1) {
        const miss = missOf(failed, self, other, levelFor(failed, self, other, level, otherLevel, now))
        if (miss === undefined || miss.gap / Math.max(Math.abs(miss.limit), 1) >= nearness) continue
        nearest = miss
        nearness = miss.gap / Math.max(Math.abs(miss.limit), 1)
      }
    }

    /** The sizes that a match may have, if rules are about the number of players. */
    const sizes = pool.sizesAt(level)?.filter((size) => size >= self.size)
    const needed = sizes?.length === 0 ? full : smallestMatch(model, sizes, level, waitedMs)
    const lacks = Math.max(0, needed - players)
    const unshared = others.length === 0 && pool.count > 1 ? unsharedIn(pool, slot) : []
    /** Names the rule that blocks the ticket most. */
    const blocking = (): string | undefined => {
      if (others.length === 0) return unshared[0]
      if (lacks === 0) return shortages.find(({ shortage }) => (shortage?.(everyone) ?? 0) > 0)?.rule.name
      const fewest = Math.min(...lets)
      return fewest < others.length ? names[lets.indexOf(fewest)] : undefined
    }
    const aheadMs = pool.aheadOf(slot, now)
    const why = {
      waitedMs: Math.round(waitedMs),
      waiting: pool.count - 1,
      others: others.length,
      compatible: everyone.length - 1,
      rules: names.map((rule, at) => ({ rule, lets: lets[at] ?? 0 })),
      blocking: blocking(),
      nearest,
      lacks,
      ...(queue.targetWaitMs !== undefined && { targetWaitMs: queue.targetWaitMs, aheadMs: Math.round(aheadMs) }),
      ...(waitedMs < patientMs && { patientForMs: Math.round(patientMs - waitedMs) }),
      next: nextAt(pool, waitedMs, aheadMs),
    }
    const tried = sizes && {
      sizes: waitedMs < model.fillForMs ? sizes.filter((size) => size === full) : sizes,
      players: others.length < pool.count - 1 ? Infinity : players,
      rules: counted,
    }
    const isInTheWay = (rule: string) => {
      const at = names.indexOf(rule)
      return at === -1 || (lets[at] ?? 0) < others.length
    }
    const similar = similarIn(pool, slot, { level, blocking: why.blocking, isInTheWay })
    return { queue: queue.name, summary: summaryOf(why, { unshared, together, tried, similar }), ...why }
  }
}

interface InTheWay {
  /** The ticket's relaxation level. */
  readonly level: number
  /** Name of the rule that blocks most. */
  readonly blocking: string | undefined
  /** True if the rule of this name blocks another ticket. */
  isInTheWay(rule: string): boolean
}

/** Finds values that look the same to players but differ for a rule, first for the rule that blocks most. */
function similarValuesOf(compiled: CompiledQueue) {
  const rules = compiled.rules.map(({ rule }) => ({
    rule,
    limits: shownLimits(compiled, rule),
    missed: similarValue(rule, true),
    passed: similarValue(rule, false),
  }))
  return (pool: Pool<Facts>, slot: Slot, { level, blocking, isInTheWay }: InTheWay): string | undefined => {
    const counting = rules.filter(({ limits }) => !Number.isNaN(limits[level]))
    const inTheWay = counting.filter(({ rule }) => rule.name === blocking || isInTheWay(rule.name))
    const first = inTheWay.toSorted((one, other) => +(other.rule.name === blocking) - +(one.rule.name === blocking))
    const sentences: SayIsSimilar[] = [...first.map(({ missed }) => missed), ...counting.map(({ passed }) => passed)]
    for (const say of sentences) {
      const said = say(pool, slot)
      if (said !== undefined) return said
    }
    return undefined
  }
}

function missOf(
  { rule, limits, atLeast, measure }: Probe,
  self: ProbedEntry,
  other: ProbedEntry,
  level: number,
): NearMiss | undefined {
  const [value, limit] = [measure(self, other), limits[level] ?? Number.NaN]
  if (value === undefined || Number.isNaN(limit)) return undefined
  const gap = atLeast ? limit - value : value - limit
  if (gap <= 0) return undefined
  const unit = rule.kind === 'distance' ? 'km' : rule.kind === 'latency' ? 'ms' : undefined
  return { rule: rule.name, value: readable(value), limit: readable(limit), gap: readable(gap), ...(unit && { unit }) }
}

type ProbedEntry = Pick<Entry<Facts>, 'since' | 'place' | 'values' | 'facts' | 'size'>

interface Probe {
  readonly rule: Rule
  /**
   * True if the rule allows the two tickets in one match. For `each` and rules about pairs, `level` is the lower of the
   * two tickets' levels.
   */
  passes(one: ProbedEntry, other: ProbedEntry, level: number, ownLevels: readonly number[]): boolean
  /**
   * Returns the distance or difference of two tickets, in the unit of the limits; undefined if the rule measures
   * nothing.
   */
  measure(one: ProbedEntry, other: ProbedEntry): number | undefined
  /** The limit at each level; NaN where the rule does not count. */
  readonly limits: Float64Array
  /** True if a measure must be at least the limit. False if it must be at most the limit. */
  readonly atLeast: boolean
}

function probesOf(compiled: CompiledQueue): Probe[] {
  let span = -1
  return compiled.rules.flatMap((compiledRule): Probe[] => {
    const { rule, radius, pair } = compiledRule
    const about = { rule, limits: shownLimits(compiled, rule), atLeast: rule.kind === 'overlap' }
    if (radius !== undefined) return [{ ...about, ...distanceProbe(radius) }]
    if (compiledRule.span !== undefined) return [{ ...about, ...differenceProbe(compiledRule.span.limit, (span += 1)) }]
    if (pair === undefined) return []
    return [{ ...about, passes: passesOf(compiledRule, pair), measure: measureOf(compiledRule) }]
  })
}

/**
 * Creates the test of two tickets. For rules by the oldest ticket or the average wait, `pair` allows too much:
 * everything that the longest wait would allow. So `whole` is called too, with the two tickets as a match. It is not
 * called for rules of kind `any` and `all`, whose inner rules may be about teams.
 */
function passesOf({ rule, whole }: CompiledRule, pair: NonNullable<CompiledRule['pair']>): Probe['passes'] {
  const isOfRules = rule.kind === 'any' || rule.kind === 'all'
  return (one, other, level, [levelOfOne, levelOfOther]) => {
    if (!pair(one.facts, other.facts, level, levelOfOne, levelOfOther)) return false
    if (whole === undefined || isOfRules) return true
    return whole([[one.facts], [other.facts]], { youngest: level, oldest: level, average: level, now: 0 })
  }
}

type RuleProbe = Pick<Probe, 'passes' | 'measure'>

const measureOf =
  ({ measure }: CompiledRule): RuleProbe['measure'] =>
  (one, other) =>
    measure?.(one.facts, other.facts)

function distanceProbe({ squared, unknown }: NonNullable<CompiledRule['radius']>): RuleProbe {
  return {
    passes: (one, other, level) => {
      const limit = squared[level] ?? Infinity
      if (limit === Infinity) return true
      const apart = squareBetween(one, other)
      if (apart !== undefined) return apart <= limit
      const network = one.facts.ticket.network
      return unknown === 'any' || (network !== undefined && network === other.facts.ticket.network)
    },
    measure: (one, other) => {
      const apart = squareBetween(one, other)
      return apart === undefined ? undefined : kmOf(apart)
    },
  }
}

function squareBetween({ place: a }: ProbedEntry, { place: b }: ProbedEntry): number | undefined {
  return a && b && (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2
}

function differenceProbe(limit: Float64Array, span: number): RuleProbe {
  const measure = ({ values: a }: ProbedEntry, { values: b }: ProbedEntry): number | undefined => {
    const [lowA, highA, lowB, highB] = [a[2 * span] ?? 0, a[2 * span + 1] ?? 0, b[2 * span] ?? 0, b[2 * span + 1] ?? 0]
    // Low is NaN if the ticket accepts any value.
    return lowA <= highA && lowB <= highB ? Math.max(highA, highB) - Math.min(lowA, lowB) : undefined
  }
  return { measure, passes: (one, other, level) => (measure(one, other) ?? 0) <= (limit[level] ?? Infinity) }
}

/** The summary for a paused queue. */
export const PAUSED = 'The queue is paused.'

const quoted = (name: string) => JSON.stringify(name)
/** The match sizes that are tried, if rules are about the number of players. */
interface TriedSizes {
  /** Match sizes, the greatest first. */
  readonly sizes: readonly number[]
  /** Players of the tickets that may be in one match with the ticket, its own included; Infinity if unknown. */
  readonly players: number
  /** Names of the rules about the number of players. */
  readonly rules: readonly string[]
}

interface Remarks {
  /** Names of the equality rules that separate the ticket from all others. */
  readonly unshared: readonly string[]
  /** Names of the rules about whole matches. */
  readonly together: readonly string[]
  readonly tried: TriedSizes | undefined
  /** The sentence about a similar value; see `similarValue`. */
  readonly similar: string | undefined
}

function summaryOf(
  why: Omit<Explanation, 'summary' | 'queue'>,
  { unshared, together, tried, similar }: Remarks,
): string {
  const near = similar === undefined ? '' : ` ${similar}.`
  const obstacle = `${obstacleOf(why, unshared, together)}.${near}${tried === undefined ? '' : sizesSentence(tried)}`
  return `${obstacle}${targetSentence(why)}${patienceSentence(why)}${relaxationSentence(why.next)}`
}

/** Maximum number of sizes that are named. */
const MOST_SIZES = 6

/** Returns the sentence about the sizes of a match that are tried and lack players, with a leading space. */
function sizesSentence({ sizes, players, rules }: TriedSizes): string {
  const by = rules.map(quoted).join(', ')
  if (sizes.length === 0) return ` Under ${by}, no match with this ticket has an allowed number of players now.`
  const named = sizes.slice(0, MOST_SIZES)
  const more = sizes.length > named.length ? [`${sizes.length - named.length} smaller sizes`] : []
  const words = [...named.map(String), ...more]
  const list = words.length === 1 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
  const tooLarge = sizes.filter((size) => size > players)
  const lack =
    tooLarge.length === 0
      ? ''
      : `; ${count(players, 'player')} ${players === 1 ? 'is' : 'are'} too few for ${tooLarge.at(-1)} or more`
  return ` Under ${by}, matches of ${list} players are tried, the largest first${lack}.`
}

/**
 * Returns the sentence about how long patience lasts, with a leading space; empty if there are too few players for a
 * match.
 */
function patienceSentence({ patientForMs, lacks, blocking }: Omit<Explanation, 'summary' | 'queue'>): string {
  if (patientForMs === undefined || lacks > 0 || blocking !== undefined) return ''
  return ` A match may wait for a cheaper one, or for a longer search, for ${rounded(patientForMs / 1000)} s at most.`
}

/**
 * Returns the sentence about the target wait that limits follow, with a leading space; empty if limits relax as
 * defined.
 */
function targetSentence({ targetWaitMs, aheadMs = 0 }: Pick<Explanation, 'targetWaitMs' | 'aheadMs'>): string {
  if (targetWaitMs === undefined) return ''
  const aim = ` Limits adapt to how many players come, to reach waits of ${rounded(targetWaitMs / 1000)} s`
  if (aheadMs <= 0) return `${aim}: enough come for this ticket to begin with the strictest.`
  return `${aim}: those of this ticket are relaxed by ${rounded(aheadMs / 1000)} s in advance.`
}

function obstacleOf(
  why: Omit<Explanation, 'summary' | 'queue'>,
  unshared: readonly string[],
  together: readonly string[],
): string {
  const { waiting, others, compatible, blocking, nearest, lacks, rules } = why
  if (waiting === 0) return 'Nobody else waits'
  if (unshared.length > 0) return `Nobody else waits with the same value for ${ruleNames(unshared)}`
  if (others === 0) return `None of ${count(waiting, 'other ticket')} comes close to this one`
  if (lacks > 0) {
    const players = `${count(lacks, 'more player')} ${lacks === 1 ? 'is' : 'are'} needed`
    if (blocking === undefined) return `${count(compatible, 'other ticket')} could be in its match; ${players}`
    const lets = rules.find(({ rule }) => rule === blocking)?.lets ?? compatible
    const through = `lets through ${lets} of ${count(others, 'other ticket')}`
    return `Rule ${quoted(blocking)} ${through}, and ${players}${nearestWords(nearest)}`
  }
  if (blocking !== undefined) return `Enough others wait, but not the players whom rule ${quoted(blocking)} needs`
  if (together.length > 0)
    return `Enough others wait, but they may not fit together under ${together.map(quoted).join(', ')}`
  return 'Enough others wait for a match'
}

function nearestWords(nearest: NearMiss | undefined): string {
  if (nearest === undefined) return ''
  const inUnit = (value: number) => (nearest.unit === undefined ? rounded(value) : `${rounded(value)} ${nearest.unit}`)
  const allowed = `rule ${quoted(nearest.rule)} allows ${inUnit(nearest.limit)}`
  return `; the nearest miss is ${inUnit(nearest.value)} where ${allowed}`
}
