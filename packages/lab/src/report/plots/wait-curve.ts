import type { LabResult, Variant } from '../../figures/lab-result.js'
import type { Slice } from '../../figures/figures.js'
import { WAIT_POINTS_MS } from '../../figures/wait-points.js'
import { slicesOf } from '../../compare/slices.js'
import type { Html } from '../html.js'
import { overSeeds, type OverSeeds } from '../means.js'
import type { Series } from '../series.js'
import type { Canvas } from './canvas.js'
import { inSeconds } from './scales.js'

/** Share of players matched by waiting time. @param queue undefined for all queues together. */
export function waitCurve(canvas: Canvas, { variants }: LabResult, series: readonly Series[], queue?: string): Html {
  const curves = variants.map((variant) => curveOf(slices(variant, queue)))
  const last = lastPoint(curves)
  const { Plot } = canvas
  const seconds = inSeconds((WAIT_POINTS_MS[last] as number) / 1000)
  return canvas.figure({
    title: queue === undefined ? 'Matched by waiting time' : `Matched by waiting time in ${queue}`,
    note: 'Share of all players, those who gave up too, who had a match after so long. Shades span the seeds.',
    draw: (width) => ({
      height: 44 + width * 0.56,
      marginLeft: 44,
      x: { label: `waited (${seconds.unit}) →`, domain: [0, seconds.most], ticks: Math.floor(width / 80) },
      y: { label: '↑ matched (%)', domain: [0, 100], grid: true, ticks: 5 },
      marks: [
        Plot.ruleY([0]),
        ...series.flatMap(({ index, colour, dash, symbol }) => {
          const data = (curves[index] ?? []).slice(0, last + 1).map(({ mean, low, high }, point) => ({
            x: seconds.of((WAIT_POINTS_MS[point] as number) / 1000),
            y: mean * 100,
            low: low * 100,
            high: high * 100,
          }))
          const marked = data.filter((_, point) => point % 4 === 2 + (index % 2))
          return [
            Plot.areaY(data, { x: 'x', y1: 'low', y2: 'high', fill: colour, fillOpacity: 0.16 }),
            Plot.lineY(data, { x: 'x', y: 'y', stroke: colour, strokeWidth: 2, strokeDasharray: dash ?? 'none' }),
            Plot.dot(marked, { x: 'x', y: 'y', fill: colour, symbol, r: 3.5 }),
          ]
        }),
      ],
    }),
  })
}

const slices = (variant: Variant, queue: string | undefined): readonly (Slice | undefined)[] =>
  queue === undefined ? variant.runs.map(({ figures }) => figures.all) : slicesOf(variant, 'queue', queue)

const NOTHING: OverSeeds = { mean: 0, low: 0, high: 0 }

const curveOf = (given: readonly (Slice | undefined)[]): OverSeeds[] =>
  WAIT_POINTS_MS.map((_, point) => overSeeds(given.map((slice) => slice?.waitCurve[point])) ?? NOTHING)

/** Index of the first point at which hardly anybody is still to be matched. */
function lastPoint(curves: readonly (readonly OverSeeds[])[]): number {
  const isOver = (point: number) =>
    curves.every((curve) => (curve.at(-1)?.mean ?? 0) - (curve[point]?.mean ?? 0) < 0.003)
  return Math.max(
    3,
    WAIT_POINTS_MS.findIndex((_, point) => isOver(point)),
  )
}
