// pure: when a queue's limits gave way for a ticket, which no event tells
import type { StoryEvent } from '@muster/console/wire'
import type { RecordedEvent } from './recorded-event.js'
import { lasted } from './sentences.js'

/** A queue's limits over waiting time, as `describeQueue` gives them. */
export interface Limits {
  readonly queue: string
  readonly curves: readonly {
    readonly rule: string
    readonly unit: string
    /** Given where waits alone do not tell when the limit gave way. */
    readonly adapts?: true | undefined
    readonly points: readonly { readonly after: number; readonly limit: number | null }[]
  }[]
}

interface Searching {
  readonly from: number
  /** Infinity while it searches still. */
  readonly to: number
}

/** The spans of time in which a ticket searched. */
export function searchingSpans(createdAt: number, events: readonly RecordedEvent[]): Searching[] {
  const spans: Searching[] = []
  let from: number | undefined = createdAt
  for (const { what, at } of events) {
    if (what === 'returned') from ??= at
    if (what !== 'found' && what !== 'joined' && what !== 'cancelled') continue
    if (from !== undefined) spans.push({ from, to: at })
    from = undefined
  }
  return from === undefined ? spans : [...spans, { from, to: Infinity }]
}

/** One event for each moment at which limits gave way while the ticket searched. */
export function relaxations(
  createdAt: number,
  limits: readonly Limits[],
  spans: readonly Searching[],
  now: number,
): StoryEvent[] {
  return limits.flatMap(({ queue, curves: all }) => {
    const curves = all.filter(({ adapts }) => adapts !== true)
    const steps = [...new Set(curves.flatMap(({ points }) => points.map(({ after }) => after)))]
    return steps
      .filter((after) => {
        const at = createdAt + after
        return after > 0 && at <= now && spans.some(({ from, to }) => at >= from && at < to)
      })
      .toSorted((one, other) => one - other)
      .map((after) => ({
        at: Math.floor(createdAt + after),
        what: 'relaxed',
        text: `After ${lasted(after)} of waiting in ${queue}: ${changesAt(curves, after)}.`,
        refs: [],
      }))
  })
}

const changesAt = (curves: Limits['curves'], after: number): string =>
  curves
    .flatMap(({ rule, unit, points }) => {
      const point = points.find((one) => one.after === after)
      if (point === undefined) return []
      if (point.limit === null) return [`${rule} no longer counts`]
      const limit = point.limit.toLocaleString('en', { maximumFractionDigits: 2 })
      return [`${rule} ${limit}${unit === '' ? '' : ` ${unit}`}`]
    })
    .join(', ')
