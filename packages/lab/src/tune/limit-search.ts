// pure: the limits and waits of a queue that are searched, and those that are not
import { didYouMean } from '@muster/core/internal'
import type { Queue } from '@muster/matchmaker'
import type { TimedLimit } from '@muster/matchmaker/internal'
import { limitsOf, type Limit, type Path, valuesOf } from './limits.js'
import type { ScheduleSpace } from './schedule.js'

/** Thrown if a queue cannot be tuned as requested. The message gives the reason. */
export class NotTunable extends Error {
  static {
    this.prototype.name = 'NotTunable'
  }
}

/** The waits that are searched only on request. `patience` stands for a wait and a cost. */
export const WAITS = ['fillForMs', 'lastResortMs', 'optionalAfterMs', 'patience'] as const
export type WaitName = (typeof WAITS)[number]

/** Minimum and maximum of a limit. */
export interface Bounds {
  readonly from: number
  readonly to: number
}

export interface SearchOptions {
  /** Waits that are searched in addition to the limits. */
  readonly also?: readonly WaitName[] | undefined
  /** Bounds of limits, by name. Default: the strictest and the loosest value in the file. */
  readonly bounds?: Readonly<Record<string, Bounds>> | undefined
  /** The promised 90th percentile of waits in milliseconds. Schedules may take `TIMES_PROMISE` times as long. */
  readonly waitP90Ms?: number | undefined
}

export interface Searched {
  readonly limits: readonly SearchedLimit[]
  readonly numbers: readonly SearchedNumber[]
  readonly leftAlone: readonly LeftAlone[]
}

export interface SearchedLimit extends Pick<Limit, 'path' | 'name' | 'relaxing'> {
  readonly space: ScheduleSpace
}

/** A single number that is searched, because it does not relax: a wait or a cost. */
export interface SearchedNumber {
  readonly path: Path
  readonly name: string
  /** True for a wait in milliseconds. */
  readonly isWait: boolean
  readonly now: number
  readonly least: number
  readonly most: number
}

export interface LeftAlone {
  readonly name: string
  readonly why: string
}

/** Number of steps of the schedule for a limit that is a single number in the file. */
const STEPS_OF_NUMBER = 3
/**
 * Maximum duration of a schedule, as a multiple of the promised wait, and of the file's own duration. The longer one
 * applies.
 */
const TIMES_PROMISE = 4
const TIMES_NOW = 2
/** The cost of patience is searched between its present value divided by this and its present value times this. */
const TIMES_COST = 2

/**
 * Returns what is searched. @throws {NotTunable} for an unknown name, impossible bounds, or a queue in which nothing
 * relaxes.
 */
export function searchedIn(queue: Queue, options: SearchOptions): Searched {
  const { bounds = {}, also = [] } = options
  if (queue.targetWaitMs !== undefined)
    throw new NotTunable(`queue ${JSON.stringify(queue.name)} has nothing to search: its limits follow targetWaitMs`)
  const all = limitsOf(queue)
  for (const name of Object.keys(bounds)) knownName(name, all)
  const chosen = all.filter(({ name, relaxing }) => relaxes(relaxing) || bounds[name] !== undefined)
  if (chosen.length === 0) throw nothingRelaxes(queue, all)
  const limits = chosen.map(({ path, name, relaxing, whole, untilMs }): SearchedLimit => {
    const latestMs = Math.max(2000, Math.min(untilMs, latestOf(queue, options, relaxing)))
    return { path, name, relaxing, space: { ...spaceOf(relaxing, name, bounds[name]), whole, latestMs } }
  })
  const numbers = also.flatMap((name) => numbersOf(queue, name, options))
  return { limits, numbers, leftAlone: leftAloneIn(queue, all, chosen, also) }
}

const relaxes = (relaxing: TimedLimit): boolean => {
  const values = valuesOf(relaxing)
  return values[0] !== values.at(-1)
}

function knownName(name: string, limits: readonly Limit[]): void {
  const names = limits.map((limit) => limit.name)
  if (names.includes(name)) return
  const known = names.length === 0 ? 'it has none' : `it has ${names.map((one) => JSON.stringify(one)).join(', ')}`
  throw new NotTunable(`bounds: the queue has no limit ${JSON.stringify(name)}${didYouMean(name, names)} (${known})`)
}

const nothingRelaxes = ({ name }: Queue, limits: readonly Limit[]): NotTunable => {
  const what = `queue ${JSON.stringify(name)} has nothing to search: `
  if (limits.length === 0) return new NotTunable(`${what}none of its rules has a limit that could relax`)
  const names = limits.map((limit) => JSON.stringify(limit.name)).join(', ')
  return new NotTunable(`${what}no limit of it relaxes; give bounds to search one of ${names} all the same`)
}

const latestOf = (
  { expireAfterMs, lastResortMs = Infinity }: Queue,
  { waitP90Ms = 0 }: SearchOptions,
  now: TimedLimit,
) => Math.min(expireAfterMs, lastResortMs, Math.max(TIMES_PROMISE * waitP90Ms, TIMES_NOW * endOf(now), 10_000))

/** Returns the milliseconds of waiting after which a limit is loosest. */
const endOf = (relaxing: TimedLimit): number => {
  if (typeof relaxing === 'number') return 0
  return 'from' in relaxing ? (relaxing.startMs ?? 0) + relaxing.overMs : (relaxing.at(-1)?.afterMs ?? 0)
}

function spaceOf(relaxing: TimedLimit, name: string, bounds?: Bounds) {
  const given = endsOf(relaxing)
  const { strictest, loosest } = bounds === undefined ? given : turned(bounds, given)
  if (strictest === Infinity)
    throw new NotTunable(`bounds: limit ${JSON.stringify(name)} is not set, so there is nothing to search`)
  const form = typeof relaxing === 'object' && 'from' in relaxing ? ('line' as const) : ('steps' as const)
  const steps = Array.isArray(relaxing) ? Math.max(2, relaxing.length) : STEPS_OF_NUMBER
  const endsFree = bounds === undefined && given.endsFree
  return { form, steps, endsFree, hasStart: form === 'line' && 'startMs' in (relaxing as object), strictest, loosest }
}

function endsOf(relaxing: TimedLimit) {
  const values = valuesOf(relaxing)
  const finite = values.filter((value) => value !== Infinity)
  const strictest = finite[0] ?? Infinity
  return { strictest, loosest: finite.at(-1) ?? strictest, endsFree: finite.length < values.length }
}

/** Returns bounds in the direction in which the limit relaxes: first the strict one, then the loose one. */
function turned({ from, to }: Bounds, now: { readonly strictest: number; readonly loosest: number }) {
  const falls = now.strictest === now.loosest ? to < from : now.loosest < now.strictest
  const [least, most] = [Math.min(from, to), Math.max(from, to)]
  return falls ? { strictest: most, loosest: least } : { strictest: least, loosest: most }
}

function numbersOf(queue: Queue, name: WaitName, options: SearchOptions): SearchedNumber[] {
  const mostMs = (ms: number) =>
    Math.min(queue.expireAfterMs - 1000, Math.max(TIMES_NOW * ms, 2 * (options.waitP90Ms ?? 0), 10_000))
  const wait = (path: Path, called: string, now: number, least: number): SearchedNumber => {
    return { path, name: called, isWait: true, now, least, most: Math.max(least, mostMs(now)) }
  }
  if (name === 'fillForMs') {
    const grows = queue.teams.some(({ size }) => typeof size === 'object')
    if (!grows) throw new NotTunable('also: fillForMs changes nothing, because every team has one exact size')
    return [wait([name], name, queue.fillForMs, 0)]
  }
  if (name === 'lastResortMs') {
    if (queue.lastResortMs === undefined)
      throw new NotTunable('also: the queue has no lastResortMs, so it cannot be searched')
    return [wait([name], name, queue.lastResortMs, 1000)]
  }
  if (name === 'patience') {
    const { patience } = queue
    if (patience === undefined) throw new NotTunable('also: the queue has no patience; set patience in the queue first')
    const { cost, untilMs } = patience
    const least = cost / TIMES_COST
    return [
      { path: [name, 'cost'], name: 'patience cost', isWait: false, now: cost, least, most: cost * TIMES_COST },
      wait([name, 'untilMs'], 'patience untilMs', untilMs, 1000),
    ]
  }
  const rules = queue.rules.flatMap((rule, index) =>
    rule.optionalAfterMs === undefined
      ? []
      : [wait(['rules', index, name], `${rule.name} ${name}`, rule.optionalAfterMs, 1000)],
  )
  if (rules.length === 0) throw new NotTunable('also: no rule of the queue has optionalAfterMs')
  return rules
}

function leftAloneIn(
  queue: Queue,
  all: readonly Limit[],
  chosen: readonly Limit[],
  also: readonly WaitName[],
): LeftAlone[] {
  const asked = 'searched only if listed in also'
  const fixed = all
    .filter((limit) => !chosen.includes(limit))
    .map(({ name }) => ({ name, why: 'does not relax; searched only if bounds are given' }))
  const by = queue.rules
    .filter((rule) => rule.by !== 'each')
    .map(({ name }) => ({ name: `${name} by`, why: 'whose wait counts is a decision, not a number' }))
  const optional = queue.rules.filter(({ optionalAfterMs }) => optionalAfterMs !== undefined)
  const waits: Readonly<Record<WaitName, readonly string[]>> = {
    fillForMs: queue.teams.some(({ size }) => typeof size === 'object') ? ['fillForMs'] : [],
    lastResortMs: queue.lastResortMs === undefined ? [] : ['lastResortMs'],
    patience: queue.patience === undefined ? [] : ['patience'],
    optionalAfterMs: optional.map(({ name }) => `${name} optionalAfterMs`),
  }
  const unasked = (Object.keys(waits) as WaitName[]).filter((name) => !also.includes(name))
  return [...fixed, ...unasked.flatMap((wait) => waits[wait].map((name) => ({ name, why: asked }))), ...by]
}
