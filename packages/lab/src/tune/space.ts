// pure: the schedules that are searched, as points whose coordinates are from 0 to 1
import type { Change } from './change.js'
import { inside, scheduleOf, shapeOf, SOONEST_MS, type ScheduleShape } from './schedule.js'
import type { Searched, SearchedLimit, SearchedWait } from './searched.js'
import { roundedWait } from './rounding.js'

/** A candidate: one coordinate from 0 to 1 for each axis. */
export type Point = readonly number[]

export interface Space {
  readonly axes: number
  /** The point nearest to what the file says. */
  readonly own: Point
  /** What a candidate changes, in numbers that a designer would write. */
  changesAt(point: Point): Change[]
  /** The same candidate in `factor` times the time. */
  retimed(point: Point, factor: number): Point
  /** The same candidate, stricter (a factor above 1) or looser in all: in its times, and where its limits begin. */
  stricter(point: Point, factor: number): Point
  /** The same candidate whose limits begin and end elsewhere: 0 as strict, 1 as loose as can be, from the start on. */
  withStart(point: Point, start: number): Point
}

type Part = keyof ScheduleShape

/** One number of one limit, or a wait. */
type Axis =
  { readonly limit: SearchedLimit; readonly part: Part } | { readonly wait: SearchedWait; readonly part: 'wait' }

export function createSpace({ limits, waits }: Searched): Space {
  const axes: Axis[] = [
    ...limits.flatMap((limit) => partsOf(limit).map((part) => ({ limit, part }))),
    ...waits.map((wait) => ({ wait, part: 'wait' as const })),
  ]
  const coordinate = (point: Point, of: SearchedLimit | SearchedWait, part: Part | 'wait') => {
    const at = axes.findIndex((axis) => axis.part === part && ('limit' in axis ? axis.limit : axis.wait) === of)
    return at === -1 ? undefined : point[at]
  }
  const scheduleAt = (point: Point, limit: SearchedLimit) => {
    const at = (part: Part, fixed: number) => coordinate(point, limit, part) ?? fixed
    const shape = { start: at('start', 0), end: at('end', 1), time: at('time', 0), delay: at('delay', 0.5) }
    return scheduleOf(limit.space, shape)
  }
  const retimed = (point: Point, factor: number) =>
    point.map((value, at) => {
      const axis = axes[at] as Axis
      if (axis.part !== 'time') return value
      return inside(value + Math.log(factor) / Math.log(axis.limit.space.latestMs / SOONEST_MS))
    })
  return {
    axes: axes.length,
    own: axes.map((axis) =>
      axis.part === 'wait' ? partOfWait(axis.wait) : shapeOf(axis.limit.space, axis.limit.relaxing)[axis.part],
    ),
    changesAt: (point) => [
      ...limits.map((limit): Change => {
        return { path: limit.path, name: limit.name, isWait: false, was: limit.relaxing, is: scheduleAt(point, limit) }
      }),
      ...waits.map((wait): Change => {
        const part = coordinate(point, wait, 'wait') ?? 0
        return { path: wait.path, name: wait.name, isWait: true, was: wait.ms, is: waitAt(wait, part) }
      }),
    ],
    retimed,
    stricter: (point, factor) =>
      retimed(point, factor).map((value, at) => {
        if (axes[at]?.part !== 'start') return value
        return factor > 1 ? value / factor : 1 - (1 - value) * factor
      }),
    withStart: (point, start) => point.map((value, at) => (axes[at]?.part === 'start' ? start : value)),
  }
}

/** What can differ in the schedules of a limit. */
function partsOf({ space }: SearchedLimit): Part[] {
  const finite = space.endsFree ? space.steps - 1 : space.steps
  const values: Part[] = space.strictest === space.loosest ? [] : finite === 1 ? ['start'] : ['start', 'end']
  return [...values, 'time', ...(space.form === 'steps' && space.steps === 2 ? [] : (['delay'] as const))]
}

const partOfWait = ({ ms, leastMs, mostMs }: SearchedWait) =>
  mostMs === leastMs ? 0 : inside((ms - leastMs) / (mostMs - leastMs))

function waitAt({ leastMs, mostMs }: SearchedWait, part: number): number {
  const ms = leastMs + (mostMs - leastMs) * part
  return leastMs === 0 && ms < 500 ? 0 : Math.min(mostMs, roundedWait(ms))
}
