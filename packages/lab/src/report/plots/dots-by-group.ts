import type { Html } from '../html.js'
import { shortened } from '../html.js'
import type { OverSeeds } from '../means.js'
import type { Series } from '../series.js'
import type { Canvas } from './canvas.js'

export interface GroupDots {
  readonly title: string
  readonly note: string
  /** Of the axis, with its unit. */
  readonly label: string
  readonly groups: readonly string[]
  /** The value of each variant in a group. */
  readonly of: (group: string, series: Series) => OverSeeds | undefined
  readonly domain?: readonly [number, number] | undefined
  /** Where a line is drawn, e.g. a limit or what is fair. */
  readonly rule?: number | undefined
  /** Where the axis has ticks. */
  readonly ticks?: readonly number[] | undefined
}

/** Pixels between the dots of two variants in a row. */
const APART = 9

/** A row for each group with a dot for each variant, and a line that spans the seeds. */
export function dotsByGroup(canvas: Canvas, series: readonly Series[], dots: GroupDots): Html {
  const { Plot } = canvas
  const { groups, of, domain, rule, ticks } = dots
  const values = groups.flatMap((group) => series.flatMap((one) => of(group, one)?.high ?? []))
  return canvas.figure({
    title: dots.title,
    note: dots.note,
    draw: (width) => {
      const labelled = new Map(groups.map((group) => [group, shortened(group, width < 400 ? 15 : 24)]))
      const longest = Math.max(4, ...[...labelled.values()].map((label) => [...label].length))
      return {
        marginTop: 8,
        height: 54 + groups.length * (14 + APART * series.length),
        marginLeft: 14 + longest * 6.6,
        x: {
          label: `${dots.label} →`,
          domain: domain ?? [0, Math.max(rule ?? 0, ...values, 1e-9) * 1.06],
          grid: true,
          ...(ticks === undefined ? { ticks: Math.floor(width / 100) } : { ticks: [...ticks] }),
        },
        y: { label: null, domain: [...groups], tickFormat: (group: string) => labelled.get(group) ?? '', tickSize: 0 },
        marks: [
          ...(rule === undefined ? [] : [Plot.ruleX([rule], { stroke: 'var(--ink)', strokeOpacity: 0.6 })]),
          ...series.flatMap((one) => {
            const data = groups.flatMap((group) => {
              const value = of(group, one)
              return value === undefined ? [] : [{ group, ...value }]
            })
            const dy = (one.index - (series.length - 1) / 2) * APART
            return [
              Plot.ruleY(data, { y: 'group', x1: 'low', x2: 'high', stroke: one.colour, strokeWidth: 1.5, dy }),
              Plot.dot(data, { y: 'group', x: 'mean', fill: one.colour, symbol: one.symbol, r: 4, dy }),
            ]
          }),
        ],
      }
    },
  })
}
