// pure: numbers as a designer writes them; relaxation schedules from a few parameters from 0 to 1
import type { RelaxationStep } from '@muster/matchmaker'
import type { TimedLimit } from '@muster/matchmaker/internal'

/** Significant digits of a number, and minimum number of distinct numbers within a range. */
const DIGITS = 2

/**
 * The number with two significant digits; with more if the range is too narrow for two, e.g. 1024 in a range from 1000
 * to 1050.
 * @param range the difference between the highest and the lowest possible number.
 */
export function roundedValue(value: number, range: number, whole: boolean): number {
  if (!Number.isFinite(value)) return value
  const unit = Math.min(unitOf(value), unitOf(range))
  const by = whole ? Math.max(1, unit) : unit
  // Corrects inexact multiples of numbers like 0.1.
  return by === Infinity ? value : Number((Math.round(value / by) * by).toPrecision(12))
}

/** Milliseconds as whole seconds, at least one; above 99 s with two significant digits. */
export const roundedWait = (ms: number): number => Math.max(1, roundedValue(ms / 1000, Infinity, true)) * 1000

const unitOf = (value: number): number => {
  const size = Math.abs(value)
  return size === 0 || size === Infinity ? Infinity : 10 ** (Math.floor(Math.log10(size)) + 1 - DIGITS)
}

/**
 * The possible schedules of a limit. They have the form of the file's schedule: the same number of steps, or a line.
 */
export interface ScheduleSpace {
  readonly form: 'steps' | 'line'
  /** Number of steps, including one without a limit. */
  readonly steps: number
  /** True if the last step is no limit. */
  readonly endsFree: boolean
  /** True if the line has a `startMs`. */
  readonly hasStart: boolean
  /** The strictest and the loosest value, never Infinity. */
  readonly strictest: number
  readonly loosest: number
  readonly whole: boolean
  /** Maximum milliseconds of waiting until the limit is at its end. */
  readonly latestMs: number
}

/** The parameters of a schedule, each from 0 to 1. */
export interface ScheduleShape {
  /** First value of the schedule, from strictest to loosest. */
  readonly start: number
  /** Last value of the schedule, from its first value to loosest. */
  readonly end: number
  /** The time when the schedule ends, from 1 s to the latest, in even ratios. */
  readonly time: number
  /** How late the schedule relaxes within that time. With 0.5, steps are even. */
  readonly delay: number
}

/** Minimum time of the end of a schedule. */
export const SOONEST_MS = 1000
/** Maximum start of a line, as a share of the time until its end. */
const LATEST_START = 0.8
/** How much a delay shifts the times of steps: from `x ** (1 / 2.8)` to `x ** 2.8`. */
const MOST_BENT = 1.5

/** The schedule with these parameters. Its numbers are rounded to what a designer would write. */
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
    // A step that changes nothing is omitted.
    if (before?.value === value) continue
    const afterMs = index === 0 ? 0 : roundedWait(endMs * (index / (space.steps - 1)) ** bend)
    steps.push({ afterMs: before === undefined ? 0 : Math.max(before.afterMs + 1000, afterMs), value })
  }
  return steps.length === 1 ? (steps[0] as RelaxationStep).value : steps
}

/** The value between strictest (0) and loosest (1): in even ratios if they are far apart, otherwise evenly. */
function valueAt({ strictest, loosest, whole }: ScheduleSpace, part: number): number {
  const least = Math.min(strictest, loosest)
  const most = Math.max(strictest, loosest)
  const value = isFar(least, most)
    ? strictest * (loosest / strictest) ** part
    : strictest + (loosest - strictest) * part
  return Math.min(most, Math.max(least, roundedValue(value, most - least, whole)))
}

const isFar = (least: number, most: number) => least > 0 && most / least >= 2

/** The parameters nearest to the file's own schedule. */
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
