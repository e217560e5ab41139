import { type Measure, MEASURES } from '../compare/index.js'
import type { LabResult } from '../figures/index.js'
import { meanOf } from '../statistics/index.js'
import type { Html } from './page.js'
import { NOTHING, overSeeds, type VariantSeries } from './series.js'
import { type Canvas, curveMarks, fromZero, inPercent, inSeconds } from './canvas.js'

/**
 * Plots match quality against waiting. Quality is the skill spread, or the distance if no skill is known. Undefined if
 * neither is known.
 */
export function tradeOff(canvas: Canvas, { variants }: LabResult, series: readonly VariantSeries[]): Html | undefined {
  const [skill, distance, wait] = ['skill-spread', 'distance', 'wait-p90'].map(measureOf)
  const values = (measure: Measure | undefined) =>
    variants.map(({ runs }) => runs.map(({ figures }) => measure?.of(figures)))
  const quality = [skill, distance].find((measure) =>
    values(measure)
      .flat()
      .some((value) => value !== undefined),
  )
  if (quality === undefined) return undefined
  const [ys, xs] = [values(quality), values(wait)]
  const seconds = inSeconds(Math.max(1, ...xs.flat().map((ms) => (ms ?? 0) / 1000)))
  const points = series.map(({ index }) =>
    (xs[index] ?? []).flatMap((ms, run) => {
      const y = ys[index]?.[run]
      return ms === undefined || y === undefined ? [] : [{ x: seconds.of(ms / 1000), y }]
    }),
  )
  const all = points.flat()
  const { Plot } = canvas
  return canvas.figure({
    title: `${quality.label[0]?.toUpperCase()}${quality.label.slice(1)} against waiting`,
    note: 'Lower left is better: closer matches, sooner. Small marks are single seeds, large ones the mean.',
    draw: (width) => ({
      height: 44 + width * 0.56,
      marginLeft: 52,
      x: {
        label: `90 % matched within (${seconds.unit}) →`,
        domain: fromZero(all.map(({ x }) => x)),
        ticks: Math.floor(width / 80),
      },
      y: {
        label: `↑ ${quality.label}${quality.unit === 'km' ? ' (km)' : ''}`,
        domain: fromZero(all.map(({ y }) => y)),
        grid: true,
        ticks: 5,
      },
      marks: series.flatMap(({ index, colour, symbol }) => {
        const own = points[index] ?? []
        const mean = own.length === 0 ? [] : [{ x: meanOf(own.map(({ x }) => x)), y: meanOf(own.map(({ y }) => y)) }]
        return [
          Plot.dot(own, { x: 'x', y: 'y', fill: colour, fillOpacity: 0.5, symbol, r: 2.5 }),
          Plot.dot(mean, { x: 'x', y: 'y', stroke: colour, strokeWidth: 2, fill: 'var(--surface)', symbol, r: 7 }),
        ]
      }),
    }),
  })
}

const measureOf = (key: string) => MEASURES.find((measure) => measure.key === key)

/** A tested schedule: how long players wait with it, and how well they are matched. */
export interface TriedPoint {
  readonly waitP90Ms: number
  readonly cost: number
  /** True if the schedule keeps the promised wait. */
  readonly keeps: boolean
  readonly is?: 'own' | 'best' | undefined
}

/** Plots the Pareto front of wait and cost. @param promisedMs the promised wait in milliseconds, if there is one. */
export function pareto(canvas: Canvas, front: readonly TriedPoint[], promisedMs: number | undefined): Html {
  const { Plot } = canvas
  const seconds = inSeconds(Math.max(1, promisedMs ?? 0, ...front.map(({ waitP90Ms }) => waitP90Ms)) / 1000)
  const points = front
    .map((point) => ({ ...point, x: seconds.of(point.waitP90Ms / 1000), y: point.cost }))
    .toSorted((a, b) => a.x - b.x)
  const promised = promisedMs === undefined ? [] : [seconds.of(promisedMs / 1000)]
  const some = (is: TriedPoint['is']) => points.filter((point) => point.is === is)
  const named = points.filter(({ is }) => is !== undefined)
  return canvas.figure({
    title: 'What can be had: quality against waiting',
    note: 'Each mark is a schedule that no other betters in both; filled ones keep the promises. Lower left is better.',
    draw: (width) => ({
      height: width * 0.7,
      marginLeft: 52,
      marginTop: 44,
      x: {
        label: `90 % matched within (${seconds.unit}) →`,
        domain: fromZero([...points.map(({ x }) => x), ...promised]),
        ticks: Math.floor(width / 80),
      },
      y: { label: '↑ match cost', domain: fromZero(points.map(({ y }) => y)), grid: true, ticks: 5 },
      marks: [
        Plot.ruleX(promised, { stroke: 'var(--ink)', strokeDasharray: '5 4' }),
        Plot.text(promised, {
          x: (x: number) => x,
          frameAnchor: 'top',
          text: () => 'promised',
          dy: -12,
          fill: 'var(--ink)',
        }),
        Plot.lineY(
          points.filter(({ is }) => is !== 'own'),
          { x: 'x', y: 'y', stroke: 'var(--series-1)', curve: 'step-after' },
        ),
        Plot.dot(some(undefined), {
          x: 'x',
          y: 'y',
          r: 4,
          stroke: 'var(--series-1)',
          fill: (point: TriedPoint) => (point.keeps ? 'var(--series-1)' : 'var(--surface)'),
        }),
        Plot.dot(some('own'), { x: 'x', y: 'y', r: 6, symbol: 'square', fill: 'var(--series-2)' }),
        Plot.dot(some('best'), { x: 'x', y: 'y', r: 8, symbol: 'star', fill: 'var(--series-3)' }),
        Plot.text(named, {
          x: 'x',
          y: 'y',
          dx: 12,
          textAnchor: 'start',
          fill: 'var(--ink)',
          text: ({ is }: TriedPoint) => (is === 'own' ? 'as it is' : 'chosen'),
        }),
      ],
    }),
  })
}

/** Plots how even matches are. Undefined if no match has teams of known skill. */
export function favourite(canvas: Canvas, { variants }: LabResult, series: readonly VariantSeries[]): Html | undefined {
  const runsOf = ({ index }: VariantSeries) =>
    (variants[index]?.runs ?? []).flatMap(({ figures: { matches } }) =>
      matches.favourite.count === 0 ? [] : [matches],
    )
  const lines = series.map((one) => {
    const runs = runsOf(one)
    return Array.from({ length: runs[0]?.favouriteShares.length ?? 0 }, (_, step) => ({
      x: 52.5 + 5 * step,
      ...inPercent(overSeeds(runs.map(({ favouriteShares }) => favouriteShares[step])) ?? NOTHING),
    }))
  })
  if (lines.every((line) => line.length === 0)) return undefined
  const { Plot } = canvas
  return canvas.figure({
    title: 'How even matches are',
    note: 'Share of matches by how probably the stronger team wins: 50 % is even, 100 % is decided beforehand.',
    draw: (width) => ({
      height: 44 + width * 0.56,
      marginLeft: 44,
      x: { label: 'the stronger team wins (%) →', domain: [50, 100], ticks: [50, 60, 70, 80, 90, 100] },
      y: { label: '↑ matches (%)', domain: fromZero(lines.flat().map(({ high }) => high)), grid: true, ticks: 5 },
      marks: [Plot.ruleY([0]), ...series.flatMap((one) => curveMarks(Plot, one, lines[one.index] ?? []))],
    }),
  })
}
