// pure: numbers as a designer writes them; relaxation schedules from a few parameters from 0 to 1
import type { RelaxationStep } from '@muster/matchmaker'
import type { TimedLimit } from '@muster/matchmaker/internal'

/** Number of significant digits of a rounded number. */
const DIGITS = 2

/**
 * Rounds a number to two significant digits. Uses more digits if the range is too narrow for two, e.g. 1024 in a range
 * from 1000 to 1050.
 * @param range the difference between the highest and the lowest possible number.
 */
export function roundedValue(value: number, range: number, whole: boolean): number {
  if (!Number.isFinite(value)) return value
  const unit = Math.min(unitOf(value), unitOf(range))
  const by = whole ? Math.max(1, unit) : unit
  // `toPrecision` removes the inexactness of multiples of numbers like 0.1.
  return by === Infinity ? value : Number((Math.round(value / by) * by).toPrecision(12))
}

/** Rounds milliseconds to whole seconds, at least one. Above 99 s, two significant digits are kept. */
export const roundedWait = (ms: number): number => Math.max(1, roundedValue(ms / 1000, Infinity, true)) * 1000

const unitOf = (value: number): number => {
  const size = Math.abs(value)
  return size === 0 || size === Infinity ? Infinity : 10 ** (Math.floor(Math.log10(size)) + 1 - DIGITS)
}

/**
 * The schedules that are possible for a limit. They have the form of the file's schedule: the same number of steps, or
 * a line.
 */
export interface ScheduleSpace {
  readonly form: 'steps' | 'line'
  /** Number of steps, including a last step without a limit. */
  readonly steps: number
  /** True if the last step removes the limit. */
  readonly endsFree: boolean
  /** True if the line in the file has a `startMs`. */
  readonly hasStart: boolean
  /** The strictest and the loosest value, never Infinity. */
  readonly strictest: number
  readonly loosest: number
  readonly whole: boolean
  /** Maximum milliseconds of waiting after which the limit has its last value. */
  readonly latestMs: number
}

/** The parameters that determine a schedule, each from 0 to 1. */
export interface ScheduleShape {
  /** First value of the schedule: 0 is the strictest, 1 the loosest. */
  readonly start: number
  /** Last value of the schedule: 0 is its first value, 1 the loosest. */
  readonly end: number
  /** Time at which the schedule ends: 0 is 1 s, 1 the latest. The scale between them is logarithmic. */
  readonly time: number
  /** How late the schedule relaxes within its time: 0 is early, 1 late, and 0.5 spaces the steps evenly. */
  readonly delay: number
}

/** Minimum milliseconds until the end of a schedule. */
export const SOONEST_MS = 1000
/** Maximum start of a line, as a share of the time until its end, from 0 to 1. */
const LATEST_START = 0.8
/** How much `delay` can bend the times of steps, as a power of two. At 1.5: from `x ** (1 / 2.8)` to `x ** 2.8`. */
const MOST_BENT = 1.5

/** Returns the schedule with these parameters. Its numbers are rounded to what a designer would write. */
export function scheduleOf(space: ScheduleSpace, shape: ScheduleShape): TimedLimit {
  const end = shape.start + (1 - shape.start) * shape.end
  const endMs = SOONEST_MS * (space.latestMs / SOONEST_MS) ** shape.time
  return space.form === 'line'
    ? lineOf(space, shape.start, end, endMs, shape.delay)
    : stepsOf(space, shape.start, end, endMs, shape.delay)
}

function lineOf(space: ScheduleSpace, start: number, end: number, endMs: number, delay: number): TimedLimit {
  const [from, to] = [valueAt(space, start), valueAt(space, end)]
  if (from === to) return from
  const wholeMs = roundedWait(endMs)
  const startMs = Math.min(Math.round((wholeMs * delay * LATEST_START) / 1000) * 1000, wholeMs - 1000)
  const overMs = wholeMs - startMs
  return space.hasStart || startMs > 0 ? { from, to, startMs, overMs } : { from, to, overMs }
}

function stepsOf(space: ScheduleSpace, start: number, end: number, endMs: number, delay: number): TimedLimit {
  const finite = space.endsFree ? space.steps - 1 : space.steps
  const bend = 2 ** ((2 * delay - 1) * MOST_BENT)
  const steps: RelaxationStep[] = []
  for (let index = 0; index < space.steps; index += 1) {
    const part = finite === 1 ? 0 : Math.min(1, index / (finite - 1))
    const value = index < finite ? valueAt(space, start + (end - start) * part) : Infinity
    const before = steps.at(-1)
    // A step that does not change the value is omitted.
    if (before?.value === value) continue
    const afterMs = index === 0 ? 0 : roundedWait(endMs * (index / (space.steps - 1)) ** bend)
    steps.push({ afterMs: before === undefined ? 0 : Math.max(before.afterMs + 1000, afterMs), value })
  }
  return steps.length === 1 ? (steps[0] as RelaxationStep).value : steps
}

/**
 * Returns a value between the strictest (`part` 0) and the loosest (1). The scale is logarithmic if they are far apart,
 * otherwise linear.
 */
function valueAt({ strictest, loosest, whole }: ScheduleSpace, part: number): number {
  const least = Math.min(strictest, loosest)
  const most = Math.max(strictest, loosest)
  const value = isFar(least, most)
    ? strictest * (loosest / strictest) ** part
    : strictest + (loosest - strictest) * part
  return Math.min(most, Math.max(least, roundedValue(value, most - least, whole)))
}

const isFar = (least: number, most: number) => least > 0 && most / least >= 2

/** Returns the parameters whose schedule is nearest to the file's own. */
export function shapeOf(space: ScheduleSpace, relaxing: TimedLimit): ScheduleShape {
  const even = { start: 0, end: 1, time: 0.5, delay: 0.5 }
  if (typeof relaxing === 'number') return { ...even, end: 0 }
  const timeOf = (ms: number) =>
    inside(Math.log(Math.max(SOONEST_MS, ms) / SOONEST_MS) / Math.log(space.latestMs / SOONEST_MS))
  if ('from' in relaxing) {
    const { startMs = 0, overMs } = relaxing
    return { ...even, time: timeOf(startMs + overMs), delay: inside(startMs / (startMs + overMs) / LATEST_START) }
  }
  const last = relaxing.at(-1)?.afterMs ?? 0
  const middle = Math.floor(relaxing.length / 2)
  const [at, part] = [(relaxing[middle]?.afterMs ?? 0) / last, middle / (relaxing.length - 1)]
  const bend = part < 1 && at > 0 ? Math.log(at) / Math.log(part) : 1
  return { ...even, time: timeOf(last), delay: inside((Math.log2(bend) / MOST_BENT + 1) / 2) }
}

export const inside = (part: number): number => Math.min(1, Math.max(0, part))
